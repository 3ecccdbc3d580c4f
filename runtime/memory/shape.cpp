// Evaluation and text of shapes.
#include "shape.h"

#include "../error.h"

namespace fovea::runtime {

std::vector<std::int64_t> shape_values(std::span<const Extent> shape,
                                       std::span<const std::int64_t> dims) {
    std::vector<std::int64_t> values;
    values.reserve(shape.size());
    for (const Extent& extent : shape) {
        values.push_back(extent.value(dims));
        if (values.back() < 0) {
            throw UserError("a size is negative: {} in the shape {}",
                            {values.back(), shape_text(values)});
        }
    }
    return values;
}

std::int64_t element_count(std::span<const std::int64_t> shape) {
    std::int64_t count = 1;
    for (std::int64_t size : shape) {
        if (__builtin_mul_overflow(count, size, &count)) {
            throw UserError("a tensor of shape {} has too many elements", {shape_text(shape)});
        }
    }
    return count;
}

std::string shape_text(std::span<const std::int64_t> shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i > 0) text += ", ";
        text += std::to_string(shape[i]);
    }
    return text + "]";
}

std::string shape_text(std::span<const Extent> shape, std::span<const std::string> dim_names) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i > 0) text += ", ";
        text += shape[i].text(dim_names);
    }
    return text + "]";
}

}  // namespace fovea::runtime
