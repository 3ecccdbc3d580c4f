// `fovea SUBCOMMAND`: calls it, and gives its mistakes as sentences.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "codegen/base/error.h"
#include "runtime/error.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/interrupts.h"
#include "tools/fovea/progress.h"
#include "tools/fovea/version.h"

namespace {

using namespace fovea::tool;

int dispatch(int argc, char** argv) {
    if (argc < 2) throw fovea::UserError("expected a subcommand; fovea --help lists them");
    const std::string name = argv[1];
    if (name == "--help" || name == "-h") return fmt::print("{}", overview()), 0;
    if (name == "--version") return fmt::print("{}", version_text()), 0;
    const std::vector<std::string> words(argv + 2, argv + argc);
    const Command command = find_command(name);
    if (command.inner)
        if (const std::optional<int> status = command.inner(words)) return *status;
    const Arguments given(command.usage, command.options, words);
    return given.help() ? 0 : command.run(given);
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
