// The list of subcommands, and what is said of all of them.
#include "tools/fovea/commands.h"

#include <fmt/format.h>

#include "codegen/base/error.h"

namespace fovea::tool {

namespace {

constexpr MakeCommand kCommands[] = {
    models_command, show_command,   generate_command, build_command,
    run_command,    verify_command, compare_command,  bench_command,
    report_command, page_command,   quantize_command, bundle_command,
    fuzz_command,   tokens_command, doctor_command,   help_command,
};

}  // namespace

const char* const kWhatItDoes =
    "Turns a model, written as a C++ function, into a program that trains and runs it.";

const char* const kOverviewEnd =
    "fovea SUBCOMMAND --help lists its options, with examples; fovea --version says what\n"
    "this is, and fovea doctor what it finds here. MODEL is a name that `fovea models` lists,\n"
    "or FILE.cpp:FUNCTION.";

const char* const kExitStatus =
    "Exit status: 0 done, 1 a check found a miss, 2 the user's mistake (one sentence on\n"
    "standard error), 3 ours.";

std::span<const MakeCommand> commands() { return kCommands; }

Command find_command(const std::string& name) {
    std::vector<std::string> names;
    for (const auto make : commands()) {
        Command command = make();
        if (command.usage.command == name) return command;
        names.push_back(command.usage.command);
    }
    const std::string nearest = did_you_mean(name, names);
    throw UserError(fmt::format("unknown subcommand '{}'{} fovea --help lists them", name,
                                nearest.empty() ? ";" : nearest));
}

std::string overview() {
    std::string text = fmt::format("usage: fovea SUBCOMMAND …\n{}\n\n", kWhatItDoes);
    for (const auto make : commands()) {
        const Usage usage = make().usage;
        text += fmt::format("  {:<10}{}\n", usage.command, usage.brief);
    }
    return text + fmt::format("\n{}\n{}\n", kOverviewEnd, kExitStatus);
}

}  // namespace fovea::tool
