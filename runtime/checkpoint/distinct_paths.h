// Files that a command writes, beside those that it reads.
#pragma once

#include <string>
#include <vector>

namespace fovea::runtime {

/// A file and the option that names it.
struct NamedPath {
    std::string option, path;  // "--weights", …
};

/// Throws UserError where one of the paths that are written is another of them, or is read: a
/// training would overwrite its data. Folders that are read count as the files of a checkpoint.
void verify_distinct(const std::vector<NamedPath>& written, const std::vector<NamedPath>& read);

}  // namespace fovea::runtime
