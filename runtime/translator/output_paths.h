// Files that a command will write, checked before the work starts.
#pragma once

#include <string>
#include <vector>

namespace fovea::runtime {

/// Throws UserError, with the system's reason, where `path` could not be written. Leaves nothing
/// behind: creates a file beside it and removes that again.
void verify_writable(const std::string& path);

/// A file and the option that names it.
struct NamedPath {
    std::string option, path;  // "--weights", …
};

/// Throws UserError where two of the paths are one file: a training would overwrite its data.
void verify_distinct(const std::vector<NamedPath>& paths);

}  // namespace fovea::runtime
