// The subcommands: how each is called, what it takes, and what it does with that.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/fovea/arguments.h"

namespace fovea::tool {

struct Command {
    Usage usage;
    po::options_description options;
    int (*run)(const Arguments& given);  // gives the exit status
    /// Where it gives a status, that is all: of what is no call as `usage` has it.
    std::optional<int> (*inner)(const std::vector<std::string>& words) = nullptr;
};

Command models_command();
Command show_command();
Command generate_command();
Command build_command();
Command run_command();
Command verify_command();
Command compare_command();
Command bench_command();
Command report_command();
Command page_command();
Command bundle_command();
Command quantize_command();
Command fuzz_command();
Command tokens_command();
Command doctor_command();
Command help_command();

/// All of them, in the order in which they are listed.
using MakeCommand = Command (*)();
std::span<const MakeCommand> commands();

/// The one of this name; UserError, with the nearest name, where there is none.
Command find_command(const std::string& name);

/// What `fovea --help` prints.
std::string overview();

/// Of which: what fovea does, how to go on, and what exit statuses mean.
extern const char *const kWhatItDoes, *const kOverviewEnd, *const kExitStatus;

}  // namespace fovea::tool
