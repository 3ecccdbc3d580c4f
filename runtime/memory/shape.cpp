// Evaluation and text of shapes.
#include "shape.h"

#include "../error.h"

namespace fovea::runtime {

namespace {

bool uses(const Extent& extent, std::size_t dim) {
    for (const Extent::Term& term : extent.terms())
        for (const int used : term.dims)
            if (static_cast<std::size_t>(used) == dim) return true;
    return false;
}

[[noreturn]] void refuse_sizes(const Extent& extent, std::int64_t size,
                               std::span<const std::int64_t> dims,
                               std::span<const std::string> dim_names) {
    std::string values;
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (uses(extent, i))
            values += (values.empty() ? "" : ", ") + dim_names[i] + "=" + std::to_string(dims[i]);
    throw UserError("these sizes do not go together: {} is {} with {}",
                    {extent.text(dim_names), size, values});
}

}  // namespace

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

void verify_sizes(std::span<const Extent> shape, std::span<const std::int64_t> dims,
                  std::span<const std::string> dim_names) {
    for (const Extent& extent : shape)
        if (const std::int64_t size = extent.value(dims); size < 0)
            refuse_sizes(extent, size, dims, dim_names);
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
