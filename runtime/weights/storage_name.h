// How the storage of a weight is written in files and messages.
#pragma once

#include <string>
#include <string_view>

#include "../memory/weight_storage.h"

namespace fovea::runtime {

/// `int8`, `int4`.
std::string type_name(WeightStorage storage);
/// `int8 in groups of 32`; of floats `float32`.
std::string long_name(WeightStorage storage);
/// What `int8:32` says; UserError, whose text has `where`, for anything else.
WeightStorage parse_weight_storage(std::string_view text, std::string_view where);
/// The same as text.
std::string storage_text(WeightStorage storage);

}  // namespace fovea::runtime
