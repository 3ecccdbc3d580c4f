// Multiples of a number: a primitive that new_op_test.cpp adds.
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

/// 0, step, 2 · step, …: [size]
constexpr Tensor ramp(Graph& graph, const Dim& size, double step,
                      Location location = Location::here()) {
    return make(
        graph,
        {.op = Op::ramp, .dtype = f32, .shape = {size}, .location = location, .value = step});
}

}  // namespace fovea
