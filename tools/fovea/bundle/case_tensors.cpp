#include "tools/fovea/bundle/case_tensors.h"

#include <span>

#include "runtime/memory/halves.h"
#include "tools/fovea/runtime_dtype.h"

namespace fovea::tool {

namespace {

template <class T, class Convert>
std::vector<T> converted_values(const Array& array, const Convert& convert) {
    std::vector<T> values;
    values.reserve(array.values.size());
    for (double value : array.values) values.push_back(convert(value));
    return values;
}

}  // namespace

template <class T>
void CaseTensors::add_values(const std::string& name, DType dtype, std::vector<std::int64_t> shape,
                             const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    tensors_.push_back({name, runtime_dtype(dtype), std::move(shape),
                        std::vector<std::byte>(bytes.begin(), bytes.end())});
}

void CaseTensors::add(const std::string& name, DType dtype, const Array& array) {
    switch (dtype) {
        case DType::f32:
            return add_values(name, dtype, array.shape,
                              converted_values<float>(array, [](double v) { return float(v); }));
        case DType::i32:
            return add_values(
                name, dtype, array.shape,
                converted_values<std::int32_t>(array, [](double v) { return std::int32_t(v); }));
        case DType::boolean:
            return add_values(name, dtype, array.shape,
                              converted_values<std::uint8_t>(
                                  array, [](double v) { return std::uint8_t(v != 0); }));
        case DType::bf16:
        case DType::f16:
            return add_values(name, dtype, array.shape,
                              converted_values<std::uint16_t>(array, [&](double v) {
                                  return runtime::half_of_float(runtime_dtype(dtype), float(v));
                              }));
    }
}

void CaseTensors::add_words(const std::string& name, const std::vector<std::uint32_t>& words) {
    add_values(name, DType::i32, {std::int64_t(words.size())}, words);
}

}  // namespace fovea::tool
