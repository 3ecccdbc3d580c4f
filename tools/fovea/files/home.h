// Where the files are that the command reads: what models include, what programs are made of.
#pragma once

#include <filesystem>

namespace fovea::tool {

struct Home {
    std::filesystem::path sources;
    std::filesystem::path runtime_archive;
    std::filesystem::path precompiled;  // model_entry.h, beside what g++ made of it, if anything
};

/// Under $FOVEA_HOME, else found from where the command itself lies: in its build folder, or
/// installed, wherever the prefix was moved to. UserError where nothing is there.
Home find_home();

/// The file that this process runs, without links.
std::filesystem::path command_file();

}  // namespace fovea::tool
