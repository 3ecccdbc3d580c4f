// Writing safetensors: the same tensors and metadata always give the same bytes.
#include <algorithm>
#include <array>
#include <cstring>

#include "../error.h"
#include "../memory/shape.h"
#include "../safetensors.h"
#include "json.h"
#include "safetensors_dtypes.h"

namespace fovea::runtime {
namespace {

void order_tensors(std::vector<TensorView>& tensors) {
    std::sort(tensors.begin(), tensors.end(), [](const TensorView& a, const TensorView& b) {
        const std::size_t size_a = element_bytes(a.dtype), size_b = element_bytes(b.dtype);
        return size_a != size_b ? size_a > size_b : a.name < b.name;
    });
}

void verify_tensors(std::span<const TensorView> tensors) {
    std::vector<std::string_view> names;
    for (const TensorView& tensor : tensors) {
        const auto count = static_cast<std::size_t>(element_count(tensor.shape));
        if (tensor.bytes.size() != count * element_bytes(tensor.dtype)) {
            throw InternalError(
                "tensor '{}', {} {}, has {} bytes",
                {tensor.name, tensor.dtype, shape_text(tensor.shape), tensor.bytes.size()});
        }
        names.push_back(tensor.name);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
        throw InternalError("two tensors are named '{}'", {*twice});
    }
}

std::string header_text(std::span<const TensorView> tensors, const Metadata& metadata) {
    Json::Object header;
    if (!metadata.empty()) {
        Json::Object strings;
        for (const auto& [key, value] : metadata) strings.emplace_back(key, Json(value));
        header.emplace_back("__metadata__", Json(std::move(strings)));
    }
    std::int64_t offset = 0;
    for (const TensorView& tensor : tensors) {
        const std::int64_t end = offset + static_cast<std::int64_t>(tensor.bytes.size());
        Json::Array shape(tensor.shape.begin(), tensor.shape.end());
        Json::Object entry;
        entry.emplace_back("dtype", Json(tensor.dtype));
        entry.emplace_back("shape", Json(std::move(shape)));
        entry.emplace_back("data_offsets", Json(Json::Array{Json(offset), Json(end)}));
        header.emplace_back(tensor.name, Json(std::move(entry)));
        offset = end;
    }
    std::string text = Json(std::move(header)).text();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

}  // namespace

void write_safetensors(const std::string& path, std::vector<TensorView> tensors,
                       const Metadata& metadata) {
    verify_tensors(tensors);
    order_tensors(tensors);
    const std::string header = header_text(tensors, metadata);
    const auto length = static_cast<std::uint64_t>(header.size());
    std::array<std::byte, sizeof length> length_bytes{};
    std::memcpy(length_bytes.data(), &length, sizeof length);

    std::vector<Bytes> parts = {length_bytes, bytes_of(header)};
    for (const TensorView& tensor : tensors) parts.push_back(tensor.bytes);
    write_file_atomically(path, parts);
}

TensorView f32_tensor(std::string name, std::vector<std::int64_t> shape,
                      std::span<const float> values) {
    return {std::move(name), "F32", std::move(shape), std::as_bytes(values)};
}

}  // namespace fovea::runtime
