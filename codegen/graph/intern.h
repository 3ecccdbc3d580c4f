// Names that passes make.
#pragma once

#include <string_view>

namespace fovea {

/// A name that lives as long as the program.
const char* intern(std::string_view name);

}  // namespace fovea
