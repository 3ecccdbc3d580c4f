// What the lowerings of all forms share: axes for a domain, accesses through layouts, and the
// elementwise nodes of a group as maps.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/kernel/builder.h"
#include "codegen/lower/memories.h"

namespace fovea::lower {

/// No axis: a dim of extent 1.
inline constexpr kernel::AxisId kNoAxis = -1;

/// Builds one kernel of a group.
class GroupBuilder {
  public:
    GroupBuilder(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
                 Memories& memories, std::string name);

    kernel::Builder& builder() { return builder_; }
    const Graph& graph() const { return graph_; }
    const fuse::Group& group() const { return group_; }
    const fuse::FusedGraph& fused() const { return fused_; }
    Memories& memories() { return memories_; }
    const fuse::Layout& layout(int id) const { return fused_.layouts[std::size_t(id)]; }

    /// A new axis for a dim, named after it where that is possible; kNoAxis for extent 1.
    kernel::AxisId axis(const Dim& dim);
    /// One axis for each dim of a shape.
    std::vector<kernel::AxisId> axes(const Shape& shape);
    /// The domain that nodes of the group are aligned to, on the right.
    void set_domain(std::vector<kernel::AxisId> axes) { domain_ = std::move(axes); }

    /// The kernel's buffer for a memory.
    int buffer(int memory, bool written);
    /// Element (axes[0], axes[1], …) of a value in memory.
    kernel::Access access(int id, const std::vector<kernel::AxisId>& axes, bool written);
    kernel::Access access(const fuse::Layout& layout, int memory,
                          const std::vector<kernel::AxisId>& axes, bool written);
    /// The axes of the last `rank` dims of the domain.
    std::vector<kernel::AxisId> aligned(int rank) const;

    /// The value of a node at the current point of the domain: loaded, or computed.
    kernel::Id value(int id);
    /// Makes `tile` the value of a node.
    void define(int id, kernel::Id tile) { values_[id] = tile; }
    /// Stores the stored nodes of the group.
    void store_all();

    /// The finished kernel with its memories; `formula` is for readers.
    LoweredKernel finish(std::string formula);

  private:
    bool is_computed_here(int id) const;
    kernel::Id compute(int id);
    kernel::Id compute_gather(const Node& node);
    kernel::Id compute_random(const Node& node);
    kernel::Id compute_reduce(const Node& node);

    const Graph& graph_;
    const fuse::FusedGraph& fused_;
    const fuse::Group& group_;
    Memories& memories_;
    kernel::Builder builder_;
    std::vector<kernel::AxisId> domain_;
    std::map<int, int> buffers_;         // memory to buffer
    std::vector<int> buffer_memories_;   // buffer to memory
    std::map<int, kernel::Id> values_;
    std::vector<std::string> axis_names_;
    std::map<std::string, int> buffer_names_;
};

/// `layer_norm, add`: what a group computes, in words.
std::string describe(const Graph& graph, const fuse::Group& group);

}  // namespace fovea::lower
