// log softmax: a composite that new_op_test.cpp adds.
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

/// x - log Σ e^x over the last axis.
constexpr Tensor log_softmax(Tensor x, Location location = Location::here()) {
    if (!is_usable("log_softmax", location, {x})) return poison_of({x});
    return make(*x.graph, {.op = Op::log_softmax,
                           .dtype = x.dtype(),
                           .shape = x.shape(),
                           .inputs = inputs_of({x.id}),
                           .location = location});
}

}  // namespace fovea
