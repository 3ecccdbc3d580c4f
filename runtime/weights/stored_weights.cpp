#include "stored_weights.h"

#include <algorithm>
#include <cstring>

#include "../error.h"
#include "../memory/shape.h"
#include "quantized_weight.h"
#include "storage_name.h"
#include "weight_lines.h"

namespace fovea::runtime {

namespace {

using Shape = std::vector<std::int64_t>;

std::int64_t bytes_of_row(const WeightLayout& layout) {
    return layout.storage.bits == 8 ? layout.depth : (layout.depth + 1) / 2;
}
const char* dtype_of_numbers(WeightStorage storage) { return storage.bits == 8 ? "I8" : "U8"; }

void verify_tensor(const SafetensorsFile& file, const TensorView& tensor, const Shape& shape,
                   std::string_view dtype, WeightStorage storage) {
    if (tensor.dtype == dtype && tensor.shape == shape) return;
    throw UserError("'{}' in '{}' is {} {}, but {} has {} {}",
                    {tensor.name, file.path(), tensor.dtype, shape_text(tensor.shape),
                     long_name(storage), dtype, shape_text(shape)});
}

/// Numbers as they lie in a file, [rows, bytes], the first of two of 4 bits in the lower half of a
/// byte, to words.
void pack_bytes(const WeightLayout& layout, Bytes numbers, std::span<const std::uint16_t> scales,
                std::span<std::uint32_t> words) {
    const int bits = layout.storage.bits;
    pack_lines(layout, scales, words, [&](const WeightLine& line) {
        const std::byte* const from =
            numbers.data() + line.row * bytes_of_row(layout) + line.step * bits / 8;
        std::uint32_t steps = 0;
        std::memcpy(&steps, from, static_cast<std::size_t>((line.count * bits + 7) / 8));
        return steps;
    });
}

std::vector<std::byte> packed_bytes(const WeightLayout& layout,
                                    const std::vector<std::int8_t>& numbers) {
    const auto row_bytes = static_cast<std::size_t>(bytes_of_row(layout));
    std::vector<std::byte> bytes(static_cast<std::size_t>(layout.rows) * row_bytes);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::size_t row = i / static_cast<std::size_t>(layout.depth),
                          step = i % static_cast<std::size_t>(layout.depth);
        const auto number = static_cast<std::byte>(numbers[i]);
        if (layout.storage.bits == 8) bytes[row * row_bytes + step] = number;
        else
            bytes[row * row_bytes + step / 2] |= (number & std::byte{15})
                                                 << static_cast<int>(step % 2 * 4);
    }
    return bytes;
}

/// UserError for scales of which there are none: sums with them would be of no use.
void verify_scales(const SafetensorsFile& file, const TensorView& scales,
                   std::span<const std::uint16_t> bits, std::string_view quantizing) {
    const auto is_wrong = [](std::uint16_t scale) {
        return scale > 0x8000U || (scale & 0x7fffU) >= 0x7f80U;
    };
    const auto found = std::find_if(bits.begin(), bits.end(), is_wrong);
    if (found == bits.end()) return;
    const std::int64_t at = found - bits.begin(), groups = scales.shape[1];
    const bool is_nan = (*found & 0x7fffU) > 0x7f80U, is_finite = (*found & 0x7fffU) < 0x7f80U;
    throw UserError(
        "'{}' in '{}' is {} at [{}, {}], but scales are finite and not negative: make the file "
        "again of weights of floats, by {}",
        {scales.name, file.path(),
         is_nan      ? "not a number"
         : is_finite ? "negative"
                     : "infinite",
         at / groups, at % groups, quantizing});
}

void copy_quantized(Parameters& parameters, std::size_t i, const SafetensorsFile& file,
                    const TensorView& tensor) {
    const WeightLayout layout = parameters.layout(i);
    verify_tensor(file, tensor, {layout.rows, bytes_of_row(layout)},
                  dtype_of_numbers(layout.storage), layout.storage);
    const TensorView* const scales = file.find(name_of_scales(tensor.name));
    if (!scales)
        throw UserError("'{}' lacks '{}', the scales of '{}'",
                        {file.path(), name_of_scales(tensor.name), tensor.name});
    verify_tensor(file, *scales, {layout.rows, layout.groups()}, "BF16", layout.storage);
    std::vector<std::uint16_t> own(scales->bytes.size() / sizeof(std::uint16_t));
    std::memcpy(own.data(), scales->bytes.data(), scales->bytes.size());
    verify_scales(file, *scales, own, quantizing(parameters.model()));
    pack_bytes(layout, tensor.bytes, own, parameters.words(i));
}

void set_words(const WeightLayout& layout, std::span<const float> values, std::string_view name,
               std::span<std::uint32_t> words) {
    pack(layout, quantize(layout, values, name), words);
}

std::vector<float> floats_of(const WeightLayout& layout, std::span<const std::uint32_t> words) {
    return dequantize(layout, unpack(layout, words));
}

void add_tensors(Parameters& parameters, std::size_t i, WeightTensors& all) {
    const auto own = [&](const void* data, std::size_t size) -> Bytes {
        const auto* bytes = static_cast<const std::byte*>(data);
        return all.owned.emplace_back(bytes, bytes + size);
    };
    const TensorSpec& spec = parameters.model().parameters[i];
    const WeightLayout layout = parameters.layout(i);
    const QuantizedWeight weight = unpack(layout, parameters.words(i));
    const std::vector<std::byte> numbers = packed_bytes(layout, weight.numbers);
    all.tensors.push_back({spec.name,
                           dtype_of_numbers(spec.storage),
                           {layout.rows, bytes_of_row(layout)},
                           own(numbers.data(), numbers.size())});
    all.tensors.push_back(
        {name_of_scales(spec.name),
         "BF16",
         {layout.rows, layout.groups()},
         own(weight.scales.data(), weight.scales.size() * sizeof(std::uint16_t))});
}

}  // namespace

std::string name_of_scales(const std::string& name) { return name + ".scales"; }

const StoredWeights kStoredWeights = {copy_quantized, set_words, floats_of, add_tensors};

const StoredWeights& stored_weights(const Model& model) {
    if (!model.stored_weights)
        throw InternalError("{} names nothing that reads whole numbers", {model.name});
    return *model.stored_weights;
}

}  // namespace fovea::runtime
