// A choice, which `select_mode` makes.
#include "codegen/ops/when_training.h"

#include "codegen/ops/definitions.h"

namespace fovea::ops {

namespace {

void when_training_reference(const Evaluation& e, Array& result) {
    result.values = e.inputs[e.training ? 0 : 1]->values;
}

void when_training_gradient(const Node&, Tensor, Tensor dy, GradientSink& sink) {
    Tensor zero = full(*dy.graph, dy.shape(), 0, dy.dtype());
    if (sink.wants(0)) sink.add(0, when_training(dy, zero));
    if (sink.wants(1)) sink.add(1, when_training(zero, dy));
}

Tensor when_training_derive(const Derivation& d) { return when_training(d.inputs[0], d.inputs[1]); }

}  // namespace

OpDef when_training_def() {
    return {.op = Op::when_training,
            .inputs = {2, 2},
            .cost = Cost::none,
            .copied = 2,
            .reference = when_training_reference,
            .gradient = when_training_gradient,
            .axis = aligned_axis,
            .derive = when_training_derive};
}

}  // namespace fovea::ops
