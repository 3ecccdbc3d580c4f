// What the programs of a generated model use around their kernels: tensors by number, the
// observer, and the checks of inputs.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "../error.h"
#include "../program.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Tensor `number` of a call, in the order of Call::tensors.
template <class T>
inline T* tensor(const runtime::Call& call, int number) {
    return static_cast<T*>(call.tensors[number]);
}

/// Inside the parallel region, after kernel number `kernel`: one thread calls the observer, the
/// others wait until it is done.
inline void observe(const runtime::Call& call, int kernel) {
    if (!call.observe) return;
#pragma omp single
    call.observe(call.observe_state, kernel);
}

/// `[2, 5]`, the position of element `index` in an array of this shape.
inline std::string position_text(i64 index, std::initializer_list<i64> shape) {
    std::string text;
    const std::vector<i64> extents(shape);
    for (std::size_t axis = extents.size(); axis-- > 0; index /= extents[axis])
        text = std::to_string(index % extents[axis]) + (text.empty() ? "" : ", ") + text;
    return "[" + text + "]";
}

/// UserError unless 0 <= values[i] < limit everywhere.
inline void check_ids(const char* name, const i32* values, std::initializer_list<i64> shape,
                      i64 limit) {
    i64 count = 1;
    for (i64 extent : shape) count *= extent;
    for (i64 i = 0; i < count; ++i)
        if (values[i] < 0 || values[i] >= limit)
            throw runtime::UserError("input " + std::string(name) + position_text(i, shape) +
                                     " is the id " + std::to_string(values[i]) +
                                     "; ids are from 0 to " + std::to_string(limit - 1));
}

/// UserError unless 0 <= values[i] <= limit everywhere.
inline void check_lengths(const char* name, const i32* values, std::initializer_list<i64> shape,
                          i64 limit) {
    i64 count = 1;
    for (i64 extent : shape) count *= extent;
    for (i64 i = 0; i < count; ++i)
        if (values[i] < 0 || values[i] > limit)
            throw runtime::UserError("input " + std::string(name) + position_text(i, shape) +
                                     " is the length " + std::to_string(values[i]) +
                                     "; lengths are from 0 to " + std::to_string(limit));
}

}  // namespace fovea::cpu::inline FOVEA_ISA
