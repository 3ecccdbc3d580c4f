// The commands of the pages, run in a folder that looks like the root of the sources.
#pragma once

#include <string>
#include <vector>

#include "tools/fovea/process.h"

namespace fovea::test {

/// In that folder; what commands write stays there.
tool::ProcessResult run_in_root(const std::string& command);

struct RanCommand {
    std::string place, command;
    tool::ProcessResult result;
};

/// The lines of all blocks of language sh, each once and in the order of the pages, but for those
/// below `<!-- not run: why -->`. They run at the first call.
const std::vector<RanCommand>& ran_commands();

}  // namespace fovea::test
