// Ids and lengths, element by element.
#include "check_inputs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "check_inputs_of_shape.h"
#include "error.h"
#include "memory/shape.h"

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

/// What ids or lengths may be, as the end of a message.
std::string range_text(bool lengths, std::int64_t limit) {
    if (!lengths && limit < 1) return "; the table has no rows";
    return std::string(lengths ? "; lengths" : "; ids") + " are from 0 to " +
           std::to_string(lengths ? limit : limit - 1);
}

/// Whether all values are from 0 to below `limit`, found without a branch for each of them.
bool are_below(const std::int32_t* values, std::int64_t count, std::int64_t limit) {
    // As an unsigned number, what is negative is not below 2^31.
    const auto bound = std::uint32_t(std::clamp(limit, std::int64_t{0}, std::int64_t{1} << 31));
    std::uint32_t outside = 0;
    for (std::int64_t i = 0; i < count; ++i)
        outside |= std::uint32_t(std::uint32_t(values[i]) >= bound);
    return outside == 0;
}

bool is_inside(std::int64_t index, std::span<const std::int64_t> shape,
               std::span<const AxisPart> parts) {
    for (std::size_t axis = parts.size(); axis-- > 0; index /= shape[axis]) {
        const std::int64_t at = index % shape[axis] - parts[axis].first;
        if (at < 0 || at >= parts[axis].count) return false;
    }
    return true;
}

/// The first value of those parts that is not from 0 to below `limit`.
std::optional<std::int64_t> first_outside(const std::int32_t* values,
                                          std::span<const std::int64_t> shape, std::int64_t limit,
                                          std::span<const AxisPart> parts = {}) {
    const std::int64_t count = count_of(shape);
    if (are_below(values, count, limit)) return {};
    for (std::int64_t i = 0; i < count; ++i)
        if ((values[i] < 0 || values[i] >= limit) && is_inside(i, shape, parts)) return i;
    return {};
}

constexpr std::int32_t kIgnoredInPyTorch = -100;

}  // namespace

void check_ids(const char* name, const std::int32_t* values,
               std::initializer_list<std::int64_t> shape, std::int64_t limit,
               std::initializer_list<AxisPart> parts) {
    check_ids_of_shape(name, values, {shape.begin(), shape.size()}, limit,
                       {parts.begin(), parts.size()});
}

void check_lengths(const char* name, const std::int32_t* values,
                   std::initializer_list<std::int64_t> shape, std::int64_t limit,
                   std::initializer_list<AxisPart> parts) {
    check_lengths_of_shape(name, values, {shape.begin(), shape.size()}, limit,
                           {parts.begin(), parts.size()});
}

void check_ids_of_shape(const char* name, const std::int32_t* values,
                        std::span<const std::int64_t> shape, std::int64_t limit,
                        std::span<const AxisPart> parts) {
    if (const auto i = first_outside(values, shape, limit, parts))
        throw UserError("input {}{} is the id {}{}{}",
                        {name, position_text(*i, shape), values[*i], range_text(false, limit),
                         values[*i] == kIgnoredInPyTorch
                             ? " (cross_entropy leaves out the label that .ignored names)"
                             : ""});
}

void check_lengths_of_shape(const char* name, const std::int32_t* values,
                            std::span<const std::int64_t> shape, std::int64_t limit,
                            std::span<const AxisPart> parts) {
    if (const auto i = first_outside(values, shape, limit + 1, parts))
        throw UserError("input {}{} is the length {}{}",
                        {name, position_text(*i, shape), values[*i], range_text(true, limit)});
}

void check_slice(const char* place, std::int64_t first, std::int64_t size, std::int64_t extent) {
    if (first >= 0 && first + size <= extent) return;
    throw UserError("{}: a slice of {} from {} does not lie within the {} elements of its axis",
                    {place, size, first, extent});
}

void check_computed(const Program& program, const Call& call, std::span<const std::int64_t> dims,
                    std::size_t first_buffer) {
    for (const ComputedCheck& check : program.computed) {
        const auto buffer = static_cast<std::size_t>(check.buffer);
        const auto shape = shape_values(program.buffers[buffer].shape, dims);
        const auto* values = static_cast<const std::int32_t*>(call.tensors[first_buffer + buffer]);
        const std::int64_t limit = check.limit.value(dims), end = limit + check.lengths;
        const auto i = first_outside(values, shape, end);
        if (!i) continue;
        const std::size_t colon = check.of.find(": ");
        throw UserError("{}: element {} of {} is {}{}",
                        {check.of.substr(0, colon), position_text(*i, shape),
                         check.of.substr(colon + 2), values[*i], range_text(check.lengths, limit)});
    }
}

}  // namespace fovea::runtime
