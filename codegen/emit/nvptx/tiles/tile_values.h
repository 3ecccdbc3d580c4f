// Which values of a kernel over tiles lie in shared memory on a GPU; the others are made where
// they are read.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "codegen/kernel/analysis/blocks.h"
#include "codegen/kernel/kernel.h"

namespace fovea::emit::nvptx {

/// A step that reads a value: `step` is the node of a kept value or a store, or a carried value
/// (its Carried node for what it becomes, the same below -1 for what it starts with).
struct Reader {
    kernel::Id step = -1;
    kernel::Id block = -1;                // the loop in whose block it stands, or -1
    std::vector<kernel::AxisId> axes;     // of the step's elements
    std::vector<kernel::AxisId> visited;  // along which it goes over the value
};

class TileValues {
  public:
    /// `forced` are values that must be kept.
    TileValues(const kernel::Kernel& kernel, const std::set<kernel::Id>& forced);

    /// Whether a value, or a loaded tile, is kept by a step of its own.
    bool is_kept(kernel::Id id);
    /// The loop over tiles in whose block a node stands; -1: none.
    kernel::Id block_of(kernel::Id id) const;
    /// The loop with which a loaded tile moves.
    kernel::Id home_of(kernel::Id load) const;
    /// The elements that a store goes over.
    std::vector<kernel::AxisId> axes_of(const kernel::Store& store) const;
    /// The sums that are computed on the way to `value`.
    std::vector<kernel::Id> sums_in(kernel::Id value);

  private:
    const std::vector<Reader>& readers(kernel::Id id);
    void add_readers(kernel::Id id, kernel::Id user, std::vector<Reader>& all);
    bool decide(kernel::Id id);
    bool is_costly(kernel::Id id) const;
    bool is_plain(kernel::Id id) const;
    int plain_work(kernel::Id id) const;
    void collect_sums(kernel::Id id, std::vector<kernel::Id>& sums);
    const std::vector<kernel::AxisId>& axes(kernel::Id id) const {
        return kernel_.nodes[std::size_t(id)].axes;
    }

    const kernel::Kernel& kernel_;
    const std::set<kernel::Id>& forced_;
    std::vector<kernel::Position> positions_;
    std::vector<std::vector<kernel::Id>> users_;
    std::map<kernel::Id, std::vector<Reader>> readers_;
    std::map<kernel::Id, bool> kept_;
};

}  // namespace fovea::emit::nvptx
