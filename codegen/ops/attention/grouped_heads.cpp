#include "codegen/ops/attention/grouped_heads.h"

#include "codegen/ops/movement.h"
#include "codegen/ops/reduction.h"

namespace fovea {

Tensor repeat_heads(Tensor x, const Dim& heads) {
    if (x.rank() != 4 || x.dim(1).without_label() == heads.without_label()) return x;
    const Dim groups = x.dim(1).without_label();
    const Shape repeated = {x.dim(0), groups, heads.without_label() / groups, x.dim(2), x.dim(3)};
    return rearrange(broadcast(unsqueeze(x, 2), repeated), "b g m k d -> b (g m) k d");
}

Tensor sum_of_groups(Tensor x, const Dim& groups) {
    if (x.rank() != 4 || x.dim(1).without_label() == groups.without_label()) return x;
    return sum(rearrange(x, "b (g m) k d -> b g m k d", {"g", groups.without_label()}), 2);
}

}  // namespace fovea
