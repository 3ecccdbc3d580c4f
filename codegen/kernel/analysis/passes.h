// Splits the block of a row kernel into passes over its inner axes: a pass ends where a reduction
// does, and what a later pass needs again is either computed again or kept.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

struct Pass {
    std::vector<Id> reduces;  // finished by this pass
    std::vector<Id> sums;     // over rows, to whose parts this pass adds
    std::vector<Id> stores;   // of tiles
    std::vector<Id> values;   // computed in this pass, in order
    std::vector<Id> loaded;   // kept by an earlier pass
    std::vector<Id> kept;     // written for a later pass
};

struct Passes {
    std::vector<Pass> passes;
    /// Values and stores without inner axes, by the number of passes that come before them.
    std::vector<std::vector<Id>> scalars, scalar_stores;
};

/// Whether the target takes so many instructions for a function that its values are kept rather
/// than computed again.
using WorthKeeping = std::function<bool(Elementwise)>;

/// `inner` are the axes that passes run over. Values that several passes need are kept where they
/// are worth it; without `worth_keeping` none is.
Passes find_passes(const Kernel& kernel, const std::vector<Id>& nodes,
                   const std::set<AxisId>& inner, const WorthKeeping& worth_keeping = {});

/// Whether one of the nodes `users` has `id` among its operands.
bool reads(const Kernel& kernel, const std::vector<Id>& users, Id id);
/// Whether one of the nodes of a pass has.
bool is_used_by_pass(const Kernel& kernel, const Passes& passes, Id id);

}  // namespace fovea::kernel
