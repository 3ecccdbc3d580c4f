// Keys and values with fewer heads than queries: neighbouring heads of queries read the same one
// (Ainslie et al. 2023).
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

/// Whether queries of so many heads can read keys of so many.
constexpr bool groups_heads(const Dim& queries, const Dim& keys) {
    const Dim of_queries = queries.without_label(), of_keys = keys.without_label();
    return of_queries == of_keys ||
           (!(of_queries == 0) && !(of_keys == 0) && of_queries.divisible_by(of_keys));
}

/// Keys or values [batch, groups, keys, width] once for every query head of their group: [batch,
/// heads, keys, width]. Head h reads group h / (heads / groups).
Tensor repeat_heads(Tensor x, const Dim& heads);
/// The sums over the heads of each group, of x [batch, heads, keys, width]: [batch, groups, keys,
/// width].
Tensor sum_of_groups(Tensor x, const Dim& groups);

}  // namespace fovea
