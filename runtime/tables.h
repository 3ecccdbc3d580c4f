// The tables of a generated file: what it says about its tensors, as plain rows that compile fast.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "program.h"

namespace fovea::runtime {

/// A shape is written `[batch, 64*src_len+1, 8]`, with the names of the model's dims.
struct ParameterRow {
    const char* name;
    DType dtype;
    const char* shape;
    Initial initial;
    std::int64_t fan_in;
    std::int64_t zero_row = -1;
};
struct TensorRow {
    const char* name;
    DType dtype;
    const char* shape;
};
struct BufferRow {
    const char* name;
    DType dtype;
    const char* shape;
    int first, last;
    bool prepared;
};

struct CheckRow {
    int buffer;
    bool lengths;
    const char* limit;
    const char* of;
};

/// The extent of a text like `64*src_len+1`. InternalError when it is not of that form.
Extent parse_extent(std::string_view text, std::span<const std::string> dims);

/// The extents of a shape's text. InternalError when it is not of that form.
std::vector<Extent> parse_shape(std::string_view text, std::span<const std::string> dims);

std::vector<TensorSpec> tensor_specs(std::span<const ParameterRow> rows,
                                     std::span<const std::string> dims);
std::vector<TensorSpec> tensor_specs(std::span<const TensorRow> rows,
                                     std::span<const std::string> dims);
std::vector<BufferSpec> buffer_specs(std::span<const BufferRow> rows,
                                     std::span<const std::string> dims);
std::vector<ComputedCheck> computed_checks(std::span<const CheckRow> rows,
                                           std::span<const std::string> dims);

}  // namespace fovea::runtime
