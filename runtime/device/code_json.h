// The launch tables of a model's code as JSON, beside its PTX text: what built programs carry, and
// what `fovea generate --target ptx` writes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../files/json.h"
#include "code.h"

namespace fovea::runtime::device {

/// {"dims": names, "programs": […], "modules": [{"architecture", "kernels": […]}]}, without the
/// text of the modules. Sizes are texts like `64*batch*src_len+1`, with the dims' names.
Json launch_tables(const Code& code);

/// The code of such tables; `texts` has the PTX of each architecture. UserError where the tables
/// are not of that form, or lack the text of a module.
Code read_code(std::string_view tables, const std::map<std::string, std::string>& texts);

}  // namespace fovea::runtime::device
