// The options of a subcommand, one by one.
#pragma once

#include <string>
#include <vector>

#include "tools/fovea/commands.h"

namespace fovea::tool {

struct OptionText {
    std::string name;  // without the dashes
    char short_name = 0;
    std::string value;  // `FILE`, `on|off`; empty: it takes none
    std::string help;
};

/// `--help` among them.
std::vector<OptionText> options_of(const Command& command);

}  // namespace fovea::tool
