// What the checks of a generated model's inputs call, and those of what it computes.
#pragma once

#include <cstdint>
#include <initializer_list>

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

/// UserError unless `size` positions from `first` on lie within `extent`; `place` is where the
/// model takes them.
void check_slice(const char* place, std::int64_t first, std::int64_t size, std::int64_t extent);

}  // namespace fovea::runtime
