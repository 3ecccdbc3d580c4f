// The checks of check_inputs.h for shapes that are not written out.
#pragma once

#include <cstdint>
#include <span>

namespace fovea::runtime {

void check_ids_of_shape(const char* name, const std::int32_t* values,
                        std::span<const std::int64_t> shape, std::int64_t limit);
void check_lengths_of_shape(const char* name, const std::int32_t* values,
                            std::span<const std::int64_t> shape, std::int64_t limit);

}  // namespace fovea::runtime
