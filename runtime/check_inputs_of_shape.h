// The checks of check_inputs.h for shapes that are not written out, and those after a run.
#pragma once

#include <cstdint>
#include <span>

#include "check_inputs.h"
#include "program.h"

namespace fovea::runtime {

void check_ids_of_shape(const char* name, const std::int32_t* values,
                        std::span<const std::int64_t> shape, std::int64_t limit,
                        std::span<const AxisPart> parts = {});
void check_lengths_of_shape(const char* name, const std::int32_t* values,
                            std::span<const std::int64_t> shape, std::int64_t limit,
                            std::span<const AxisPart> parts = {});

/// After a run: UserError when ids or lengths that the program computed were out of range. `dims`
/// are those of the model; the program's buffers are the tensors from `first_buffer` on.
void check_computed(const Program& program, const Call& call, std::span<const std::int64_t> dims,
                    std::size_t first_buffer);

}  // namespace fovea::runtime
