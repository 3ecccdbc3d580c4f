// Rows of a generated file's tables (description.h) as specs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "program.h"

namespace fovea::runtime {

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
