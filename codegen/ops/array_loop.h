// Loops over the elements of arrays of any rank, for the ops' reference semantics.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/graph/op_def.h"

namespace fovea {

/// The distance between neighbours along each axis of a dense row-major array.
std::vector<std::int64_t> strides_of(std::span<const std::int64_t> shape);
/// The same of an operand broadcast to `shape`: 0 where it is repeated; as long as `shape`.
std::vector<std::int64_t> broadcast_strides(const Array& operand,
                                            std::span<const std::int64_t> shape);

/// Visits all index tuples of `shape` in row-major order, and the offsets they give in up to three
/// arrays.
template <class Visit>
void for_each_index(std::span<const std::int64_t> shape,
                    std::array<std::span<const std::int64_t>, 3> strides, Visit&& visit) {
    std::array<std::int64_t, 3> at{};
    std::vector<std::int64_t> index(shape.size(), 0);
    for (std::int64_t extent : shape)
        if (extent == 0) return;
    for (;;) {
        visit(at[0], at[1], at[2]);
        std::size_t axis = shape.size();
        for (; axis > 0; --axis) {
            std::size_t i = axis - 1;
            for (std::size_t k = 0; k < 3; ++k)
                if (!strides[k].empty()) at[k] += strides[k][i];
            if (++index[i] < shape[i]) break;
            for (std::size_t k = 0; k < 3; ++k)
                if (!strides[k].empty()) at[k] -= strides[k][i] * shape[i];
            index[i] = 0;
        }
        if (axis == 0) return;
    }
}

}  // namespace fovea
