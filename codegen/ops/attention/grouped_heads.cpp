#include "codegen/ops/attention/grouped_heads.h"

#include "codegen/ops/composed/arrangement.h"
#include "codegen/ops/reduction.h"

namespace fovea {

namespace {

/// Whether x has so many heads, or no axis of them.
bool has_heads(Tensor x, const Dim& heads) {
    return x.rank() != 4 || x.dim(1).without_label() == heads.without_label();
}

}  // namespace

Tensor repeat_heads(Tensor x, const Dim& heads) {
    if (has_heads(x, heads)) return x;
    return repeat_interleave(x, 1, heads.without_label() / x.dim(1).without_label());
}

Tensor sum_of_groups(Tensor x, const Dim& groups) {
    if (has_heads(x, groups)) return x;
    return sum(rearrange(x, "b (g m) k d -> b g m k d", {"g", groups.without_label()}), 2);
}

}  // namespace fovea
