// What the checks of a generated model's inputs call.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace fovea::runtime {

/// UserError unless 0 <= values[i] < limit everywhere; its text has the position in `shape`.
void check_ids(const char* name, const std::int32_t* values,
               std::initializer_list<std::int64_t> shape, std::int64_t limit);

/// UserError unless 0 <= values[i] <= limit everywhere.
void check_lengths(const char* name, const std::int32_t* values,
                   std::initializer_list<std::int64_t> shape, std::int64_t limit);

}  // namespace fovea::runtime
