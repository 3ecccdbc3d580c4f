// fovea, installed into a folder of the build and moved to another one.
#pragma once

#include <filesystem>
#include <string>

#include "tests/required.h"
#include "tools/fovea/process.h"

namespace fovea::test {

/// What the tests write, empty when they start.
extern const std::filesystem::path kFolder;
extern const std::filesystem::path kCases;  // tests/package

std::string read_file(const std::filesystem::path& path);
tool::ProcessResult run_shell(const std::string& command);

/// What `command` prints; a failed check when it fails.
std::string succeeds(const std::string& command);

/// The prefix. It is installed once.
const std::filesystem::path& installed();

/// With one blank for each run of blanks and ends of lines.
std::string in_one_line(const std::string& text);

}  // namespace fovea::test
