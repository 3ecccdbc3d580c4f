// Ids and lengths, element by element.
#include "check_inputs.h"

#include <algorithm>
#include <string>

#include "check_inputs_of_shape.h"
#include "error.h"

namespace fovea::runtime {

namespace {

/// `[2, 5]`, the position of element `index` in an array of this shape.
std::string position_text(std::int64_t index, std::span<const std::int64_t> shape) {
    std::string text;
    for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
        text = std::to_string(index % shape[axis]) + (text.empty() ? "" : ", ") + text;
    return "[" + text + "]";
}

std::int64_t count_of(std::span<const std::int64_t> shape) {
    std::int64_t count = 1;
    for (std::int64_t extent : shape) count *= extent;
    return count;
}

/// Whether all values are from 0 to below `limit`, found without a branch for each of them.
bool are_below(const std::int32_t* values, std::int64_t count, std::int64_t limit) {
    // As an unsigned number, what is negative is not below 2^31.
    const auto bound = std::uint32_t(std::min(limit, std::int64_t{1} << 31));
    std::uint32_t outside = 0;
    for (std::int64_t i = 0; i < count; ++i)
        outside |= std::uint32_t(std::uint32_t(values[i]) >= bound);
    return outside == 0;
}

}  // namespace

void check_ids(const char* name, const std::int32_t* values,
               std::initializer_list<std::int64_t> shape, std::int64_t limit) {
    check_ids_of_shape(name, values, {shape.begin(), shape.size()}, limit);
}

void check_lengths(const char* name, const std::int32_t* values,
                   std::initializer_list<std::int64_t> shape, std::int64_t limit) {
    check_lengths_of_shape(name, values, {shape.begin(), shape.size()}, limit);
}

void check_ids_of_shape(const char* name, const std::int32_t* values,
                        std::span<const std::int64_t> shape, std::int64_t limit) {
    const std::int64_t count = count_of(shape);
    if (are_below(values, count, limit)) return;
    for (std::int64_t i = 0; i < count; ++i)
        if (values[i] < 0 || values[i] >= limit)
            throw UserError("input " + std::string(name) + position_text(i, shape) + " is the id " +
                            std::to_string(values[i]) + "; ids are from 0 to " +
                            std::to_string(limit - 1));
}

void check_lengths_of_shape(const char* name, const std::int32_t* values,
                            std::span<const std::int64_t> shape, std::int64_t limit) {
    const std::int64_t count = count_of(shape);
    if (are_below(values, count, limit + 1)) return;
    for (std::int64_t i = 0; i < count; ++i)
        if (values[i] < 0 || values[i] > limit)
            throw UserError("input " + std::string(name) + position_text(i, shape) +
                            " is the length " + std::to_string(values[i]) +
                            "; lengths are from 0 to " + std::to_string(limit));
}

}  // namespace fovea::runtime
