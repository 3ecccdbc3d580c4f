// Strides of dense and of broadcast arrays.
#include "codegen/ops/array_loop.h"

namespace fovea {

std::vector<std::int64_t> strides_of(std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
}

std::vector<std::int64_t> broadcast_strides(const Array& operand,
                                            std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> own = strides_of(operand.shape), strides(shape.size(), 0);
    std::size_t missing = shape.size() - own.size();
    for (std::size_t i = 0; i < own.size(); ++i)
        if (operand.shape[i] != 1) strides[missing + i] = own[i];
    return strides;
}

}  // namespace fovea
