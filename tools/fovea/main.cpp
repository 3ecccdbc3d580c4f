// `fovea SUBCOMMAND`. Exit status: 0 done, 1 a check found a miss, 2 the user's mistake (one
// sentence on standard error), 3 ours.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "codegen/base/error.h"
#include "runtime/error.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/interrupts.h"
#include "tools/fovea/progress.h"

namespace {

using namespace fovea::tool;

struct Subcommand {
    const char* name;
    int (*run)(const std::vector<std::string>&);
    const char* summary;
};

constexpr Subcommand kSubcommands[] = {
    {"models", models_command, "list the built-in models and their settings"},
    {"show", show_command, "print a model at any stage of its way to C++"},
    {"generate", generate_command, "write a model's C++, with all that it needs"},
    {"build", build_command, "write a model's program"},
    {"run", run_command, "run a model on tensors from a file"},
    {"verify", verify_command, "check kernels and gradients against the reference"},
    {"compare", compare_command, "fusion off beside fusion on: values, time, memory"},
    {"bench", bench_command, "measure kernels and models against the machine"},
    {"bundle", bundle_command, "write a folder of checks for a machine with a GPU"},
    {"fuzz", fuzz_command, "compare programs made at random with the reference"},
};

void print_help() {
    fmt::print(
        "usage: fovea SUBCOMMAND …\n"
        "Turns a model, written as a C++ function, into a program that trains and runs it.\n\n");
    for (const Subcommand& subcommand : kSubcommands)
        fmt::print("  {:<10}{}\n", subcommand.name, subcommand.summary);
    fmt::print(
        "\nfovea SUBCOMMAND --help lists its options. MODEL is a name that `fovea models`\n"
        "lists, or FILE.cpp:FUNCTION.\n");
}

int dispatch(int argc, char** argv) {
    if (argc < 2) throw fovea::UserError("expected a subcommand; fovea --help lists them");
    std::string name = argv[1];
    if (name == "--help" || name == "-h" || name == "help") return print_help(), 0;
    std::vector<std::string> names, arguments(argv + 2, argv + argc);
    for (const Subcommand& subcommand : kSubcommands) {
        if (name == subcommand.name) return subcommand.run(arguments);
        names.push_back(subcommand.name);
    }
    std::string nearest = did_you_mean(name, names);
    throw fovea::UserError(fmt::format("unknown subcommand '{}'{} fovea --help lists them", name,
                                       nearest.empty() ? ";" : nearest));
}

int fail(int status, const std::string& text) {
    Progress::clear();
    fmt::print(stderr, "fovea: {}\n", text);
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    // Over a file size limit a write then fails with a reason, and the temporary file is removed.
    std::signal(SIGXFSZ, SIG_IGN);
    clear_away_on_signals();
    try {
        int status = dispatch(argc, argv);
        if (std::fflush(stdout) != 0) return fail(2, "cannot write to standard output");
        return status;
    } catch (const fovea::UserError& error) {
        return fail(2, error.what());
    } catch (const fovea::runtime::UserError& error) {
        return fail(2, error.what());
    } catch (const std::filesystem::filesystem_error& error) {
        return fail(
            2, fmt::format("cannot use '{}': {}", error.path1().string(), error.code().message()));
    } catch (const std::bad_alloc&) {
        return fail(2, "out of memory: take smaller sizes or settings");
    } catch (const std::exception& error) {
        return fail(3, std::string("internal error: ") + error.what());
    }
}
