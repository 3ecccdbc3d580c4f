// Keys and values with fewer heads than queries, as plain ops: neighbouring heads of queries read
// the same one (Ainslie et al. 2023).
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

/// Keys or values [batch, groups, keys, width] once for every query head of their group: [batch,
/// heads, keys, width]. Head h reads group h / (heads / groups).
Tensor repeat_heads(Tensor x, const Dim& heads);
/// The sums over the heads of each group, of x [batch, heads, keys, width]: [batch, groups, keys,
/// width].
Tensor sum_of_groups(Tensor x, const Dim& groups);

}  // namespace fovea
