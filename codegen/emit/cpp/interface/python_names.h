// What a package for Python, its arguments and its fields may be called.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fovea::emit {

/// Why a package of this name would not be imported, or not be that: "a keyword of Python".
std::optional<std::string> why_not_imported(const std::string& name);

/// Names of arguments or fields, one for each name of C, which differ from one another and from
/// those that are taken. A name that Python takes stays as it is.
std::vector<std::string> python_names(const std::vector<std::string>& names,
                                      std::set<std::string> taken = {});

}  // namespace fovea::emit
