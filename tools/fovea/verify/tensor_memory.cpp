#include "tools/fovea/verify/tensor_memory.h"

#include <cstdint>

#include "runtime/memory/halves.h"
#include "tools/fovea/runtime_dtype.h"

namespace fovea::tool {

double as_held(DType type, float value) {
    if (!is_half(type)) return double(value);
    const runtime::DType half = runtime_dtype(type);
    return double(runtime::float_of_half(half, runtime::half_of_float(half, value)));
}

std::vector<double> read_tensor(const void* address, DType type, std::size_t count) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        switch (type) {
            case DType::f32: values[i] = static_cast<const float*>(address)[i]; break;
            case DType::i32: values[i] = static_cast<const std::int32_t*>(address)[i]; break;
            case DType::boolean: values[i] = static_cast<const std::uint8_t*>(address)[i]; break;
            case DType::bf16:
            case DType::f16:
                values[i] = runtime::float_of_half(runtime_dtype(type),
                                                   static_cast<const std::uint16_t*>(address)[i]);
        }
    }
    return values;
}

void write_tensor(void* address, DType type, const Array& array) {
    for (std::size_t i = 0; i < array.values.size(); ++i) {
        double value = array.values[i];
        switch (type) {
            case DType::f32: static_cast<float*>(address)[i] = float(value); break;
            case DType::i32: static_cast<std::int32_t*>(address)[i] = std::int32_t(value); break;
            case DType::boolean: static_cast<std::uint8_t*>(address)[i] = value != 0; break;
            case DType::bf16:
            case DType::f16:
                static_cast<std::uint16_t*>(address)[i] =
                    runtime::half_of_float(runtime_dtype(type), float(value));
        }
    }
}

}  // namespace fovea::tool
