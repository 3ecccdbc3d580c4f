// The passes of the pipeline on scores, for tests that fuse attention.
#pragma once

#include "codegen/optimize/common_subexpressions.h"
#include "codegen/optimize/fold.h"
#include "tests/ops/check_gradient.h"

namespace fovea::test {

inline Graph simplify(const Graph& score) {
    return dead_code(common_subexpressions(fold(expand_composites(score))));
}
inline Graph differentiate(const Graph& score) {
    return add_gradients(score, {.from_loss = false, .of_inputs = true});
}

}  // namespace fovea::test
