// What the checks of a generated model's inputs call, and those of what it computes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "program.h"

namespace fovea::runtime {

/// A part of the positions along an axis.
struct AxisPart {
    std::int64_t first = 0, count = 0;
};

/// UserError unless 0 <= values[i] < limit everywhere, or in the `parts` of all axes; its text has
/// the position in `shape`.
void check_ids(const char* name, const std::int32_t* values,
               std::initializer_list<std::int64_t> shape, std::int64_t limit,
               std::initializer_list<AxisPart> parts = {});

/// UserError unless 0 <= values[i] <= limit.
void check_lengths(const char* name, const std::int32_t* values,
                   std::initializer_list<std::int64_t> shape, std::int64_t limit,
                   std::initializer_list<AxisPart> parts = {});

/// The same for shapes that are not written out.
void check_ids_of_shape(const char* name, const std::int32_t* values,
                        std::span<const std::int64_t> shape, std::int64_t limit,
                        std::span<const AxisPart> parts = {});
void check_lengths_of_shape(const char* name, const std::int32_t* values,
                            std::span<const std::int64_t> shape, std::int64_t limit,
                            std::span<const AxisPart> parts = {});

/// UserError unless `size` positions from `first` on lie within `extent`; `place` is where the
/// model takes them.
void check_slice(const char* place, std::int64_t first, std::int64_t size, std::int64_t extent);

/// After a run: UserError when ids or lengths that the program computed were out of range. `dims`
/// are those of the model; the program's buffers are the tensors from `first_buffer` on.
void check_computed(const Program& program, const Call& call, std::span<const std::int64_t> dims,
                    std::size_t first_buffer);

}  // namespace fovea::runtime
