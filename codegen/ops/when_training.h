// A value that is another one while a model is trained.
#pragma once

#include "codegen/ops/elementwise.h"

namespace fovea {

/// `training` in programs that train (`training_step`, `forward_train`), `otherwise` in all others,
/// as PyTorch's modules ask `self.training`. Both have one type and one shape.
template <class = void>
constexpr Tensor when_training(Tensor training, Tensor otherwise,
                               Location location = Location::here()) {
    if (!is_usable("when_training", location, {training, otherwise}))
        return poison_of({training, otherwise});
    const Shape shape = training.shape(), other = otherwise.shape();
    if (training.dtype() != otherwise.dtype() || !fits(shape, other)) {
        Text text;
        text << "when_training of " << name_of(training.dtype()) << " " << shape << " and "
             << name_of(otherwise.dtype()) << " " << other
             << ": both must have one type and one shape";
        return fail(*training.graph, location, training.graph->scope_of(training.id), text);
    }
    return make(*training.graph, {.op = Op::when_training,
                                  .dtype = training.dtype(),
                                  .shape = shape,
                                  .inputs = inputs_of({training.id, otherwise.id}),
                                  .location = location});
}

}  // namespace fovea
