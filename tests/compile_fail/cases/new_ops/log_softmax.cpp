#include "codegen/ops/log_softmax.h"

#include "codegen/ops/definitions.h"
#include "codegen/ops/reduction.h"

namespace fovea::ops {

namespace {

Tensor log_softmax_expand(const Expansion& e) {
    const Tensor x = e.inputs[0];
    const Tensor shifted = x - stop_gradient(amax(x, -1, true));
    return shifted - log(sum(exp(shifted), -1, true));
}
Tensor log_softmax_derive(const Derivation& d) { return log_softmax(d.inputs[0]); }

}  // namespace

OpDef log_softmax_def() {
    return {.op = Op::log_softmax,
            .inputs = {1, 1},
            .expand = log_softmax_expand,
            .derive = log_softmax_derive};
}

}  // namespace fovea::ops
