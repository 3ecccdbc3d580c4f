// Files whose bytes are read as they are used.
#pragma once

#include <memory>
#include <string>

#include "files.h"

namespace fovea::runtime {

/// The bytes of a file, kept as long as `owner` is.
struct MappedFile {
    Bytes bytes;
    std::shared_ptr<const void> owner;
    bool is_mapped = false;  // else the bytes are a copy
};

/// Whether somebody has written to the file of a MappedFile that is mapped, whose owner this is.
bool was_written_to(const std::shared_ptr<const void>& owner);

/// Maps a regular file: pages come into memory when they are read. Others (pipes) are read whole.
/// What becomes of the file after that, but for being replaced by another, is not allowed to
/// change it. UserError as `read_file` has them.
MappedFile map_file(const std::string& path);

/// The path of the mapped file that has this address, to print; null: none has. As handlers of
/// signals may call.
const char* path_of_mapped(const void* address);

}  // namespace fovea::runtime
