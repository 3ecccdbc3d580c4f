// Rows of a generated file's tables (description.h) as specs. InternalError for what is no row.
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

/// Whole rows.
std::vector<std::string> names_of(Rows rows);

std::vector<Setting> settings_of(Rows rows);
std::vector<TensorSpec> parameter_specs(Rows rows, std::span<const std::string> dims);
std::vector<TensorSpec> tensor_specs(Rows rows, std::span<const std::string> dims);
std::vector<BufferSpec> buffer_specs(Rows rows, std::span<const std::string> dims);
std::vector<ComputedCheck> computed_checks(Rows rows, std::span<const std::string> dims);

}  // namespace fovea::runtime
