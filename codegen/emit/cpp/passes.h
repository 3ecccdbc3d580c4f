// Splits the block of a row kernel into passes over its inner axes: a pass ends where a reduction
// does, and what a later pass needs again is either computed again or kept.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::emit {

struct Pass {
    std::vector<kernel::Id> reduces;  // finished by this pass
    std::vector<kernel::Id> sums;     // over rows, to whose parts this pass adds
    std::vector<kernel::Id> stores;   // of tiles
    std::vector<kernel::Id> values;   // computed in this pass, in order
    std::vector<kernel::Id> loaded;   // kept by an earlier pass
    std::vector<kernel::Id> kept;     // written for a later pass
};

struct Passes {
    std::vector<Pass> passes;
    /// Values and stores without inner axes, by the number of passes that come before them.
    std::vector<std::vector<kernel::Id>> scalars, scalar_stores;
};

/// `inner` are the axes that passes run over. With `may_keep`, values that are expensive and
/// needed by several passes are kept.
Passes find_passes(const kernel::Kernel& kernel, const std::vector<kernel::Id>& nodes,
                   const std::set<kernel::AxisId>& inner, bool may_keep);

/// Whether one of the nodes `users` has `id` among its operands.
bool reads(const kernel::Kernel& kernel, const std::vector<kernel::Id>& users, kernel::Id id);
/// Whether one of the nodes of a pass has.
bool is_used_by_pass(const kernel::Kernel& kernel, const Passes& passes, kernel::Id id);

}  // namespace fovea::emit
