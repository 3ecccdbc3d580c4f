// Names in generated C++: what users, sizes and values are called there.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel/parameters.h"

namespace fovea::emit {

using kernel::identifier;

/// Whether C++, a macro or the runtime has taken a name.
bool is_reserved(const std::string& name);

/// Whether a file `<name>.h` would stand in the way of a header of C or POSIX.
bool is_header(const std::string& name);

/// A name like `wanted`, which is one of neither the reserved nor the taken names; takes it.
std::string fresh_name(std::set<std::string>& taken, std::string_view wanted);

/// The same for a field of a struct that C and C++ read, where the runtime's names are no matter.
std::string fresh_field(std::set<std::string>& taken, std::string_view wanted);

/// The same for several fields. A name that can be one is kept for who has it, wherever it stands
/// among the others: of `x-y` and `x_y` the second is `x_y`.
std::vector<std::string> fresh_fields(std::set<std::string>& taken,
                                      const std::vector<std::string>& wanted);

/// What programs call, and the parameters of their functions.
const std::set<std::string>& names_of_programs();

/// What a symbolic dim is called: by its name, or `<name>_dim` where that is taken by C++, the
/// runtime or the emitted skeletons.
std::string dim_name(const std::string& symbol);

}  // namespace fovea::emit
