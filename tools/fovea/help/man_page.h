// Manual pages, made of what `--help` prints of.
#pragma once

#include <string>

#include "tools/fovea/commands.h"

namespace fovea::tool {

/// fovea(1), which lists the subcommands, in roff with the macros of man(7).
std::string man_page();

/// fovea-NAME(1), of one subcommand.
std::string man_page(const Command& command);

}  // namespace fovea::tool
