// The rules of cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map Object Management").
#include "codegen/emit/nvptx/tensor_map.h"

#include <fmt/format.h>

namespace fovea::emit::nvptx {

namespace {

constexpr int kUnit = 16;  // bytes
constexpr int kLargestBox = 256;

}  // namespace

std::optional<std::string> why_not_tensor_map(const kernel::Kernel& kernel, const TensorMap& map) {
    if (map.axes.size() < 2 || map.axes.size() > 5)
        return fmt::format("it has {} axes, not 2 to 5", map.axes.size());
    const kernel::Buffer& buffer = kernel.buffers.at(std::size_t(map.buffer));
    const int element = size_of(buffer.dtype);
    const Dim unit(kUnit / element);
    if (!map.offset.divisible_by(unit))
        return fmt::format("it starts at no multiple of 16 bytes of {}", buffer.name);
    if (!map.axes[0].stride.is_one()) return std::string("its innermost elements lie apart");
    for (std::size_t i = 0; i < map.axes.size(); ++i) {
        const TensorMap::Axis& axis = map.axes[i];
        if (axis.box < 1 || axis.box > kLargestBox)
            return fmt::format("its box has {} positions along axis {}, not 1 to {}", axis.box, i,
                               kLargestBox);
        if (i > 0 && !axis.stride.divisible_by(unit))
            return fmt::format("its stride along axis {} is no multiple of 16 bytes", i);
    }
    const int row = map.axes[0].box * element;
    if (row % kUnit != 0)
        return fmt::format("a row of its box has {} bytes, no multiple of 16", row);
    const bool is_swizzle =
        map.swizzle == 0 || map.swizzle == 32 || map.swizzle == 64 || map.swizzle == 128;
    if (!is_swizzle) return fmt::format("no swizzle has {} bytes", map.swizzle);
    if (map.swizzle && row != map.swizzle)
        return fmt::format("a row of its box has {} bytes, and the swizzle {}", row, map.swizzle);
    return std::nullopt;
}

int box_bytes(const kernel::Kernel& kernel, const TensorMap& map) {
    int bytes = size_of(kernel.buffers.at(std::size_t(map.buffer)).dtype);
    for (const TensorMap::Axis& axis : map.axes) bytes *= axis.box;
    return bytes;
}

}  // namespace fovea::emit::nvptx
