// The option that changes numbers of the targets that a command compiles for.
#pragma once

#include <string>

#include "codegen/target/target.h"
#include "tools/fovea/arguments.h"

namespace fovea::tool {

/// Adds `--schedule`.
void add_schedule_option(po::options_description& options);

/// The targets, with what the file of `--schedule` sets, where it was given.
target::Targets targets_of(const Arguments& given);

/// Sets what `text` says, lines `name = value` in which `#` starts a comment. UserError, with the
/// file and the line, for unknown names, values out of range, and what is no such line.
void read_schedule(const std::string& text, const std::string& file, target::Targets& targets);

}  // namespace fovea::tool
