// Reading files whole, and writing them so that a reader sees the old bytes or all the new ones.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime {

using Bytes = std::span<const std::byte>;

/// The bytes of a text.
inline Bytes bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// What the name of a file that is being written ends with. A killed process leaves it; the next
/// one that writes the file removes it.
inline constexpr const char* kPartialSuffix = ".fovea-partial";

/// Where a write to `path` goes: through symbolic links, also to a file that is not there yet.
/// What is no regular file is its own target. UserError for links that lead in a circle.
std::string write_target(const std::string& path);

/// Replaces the file by `parts`, one after another: writes a temporary file beside it, with the
/// final permissions from the start, syncs it, renames it over `path` (through a symbolic link,
/// over its target) and syncs the directory. When anything fails (a full disk, a missing directory)
/// the temporary file is removed, the old file stays as it was, and a UserError names the path and
/// the system's reason. A path that exists and is no regular file (a pipe, a device) is written in
/// place. Of several writers at a time each writes whole, the last one stays.
void write_file_atomically(const std::string& path, std::span<const Bytes> parts);
void write_file_atomically(const std::string& path, std::string_view text);

/// All bytes of a file; UserError when it is missing, a directory or cannot be read.
std::vector<std::byte> read_file(const std::string& path);

}  // namespace fovea::runtime
