#include "tests/readme/commands.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "tests/readme/pages.h"

namespace fovea::test {

namespace {

namespace fs = std::filesystem;

/// The folders of the sources, and the build in `build`.
fs::path make_root() {
    const fs::path root = fs::path(FOVEA_BINARY_DIR) / "readme/root";
    fs::remove_all(root);
    fs::create_directories(root);
    for (const char* folder : {"codegen", "dsl", "models", "runtime", "tests", "tools"})
        fs::create_directory_symlink(fs::path(FOVEA_SOURCE_DIR) / folder, root / folder);
    fs::create_directory_symlink(FOVEA_BINARY_DIR, root / "build");
    return root;
}

bool writes_ptx(const std::string& command) { return command.find("ptx") != command.npos; }

std::vector<RanCommand> run_commands() {
    const bool has_ptx = run_in_root("build/fovea show add_norm --stage ptx").status == 0;
    std::vector<RanCommand> ran;
    std::set<std::string> seen;
    for (const Page& page : pages())
        for (const CodeBlock& block : page.blocks) {
            if (block.language != "sh") continue;
            if (block.mark.starts_with("not run: ")) {
                MESSAGE(block.place(), " is not run: ", block.mark.substr(9));
                continue;
            }
            for (const std::string& line : lines_of(block.text)) {
                if (!seen.insert(line).second) continue;
                if (writes_ptx(line) && !has_ptx)
                    MESSAGE(block.place(), " is not run: this build has no LLVM");
                else ran.push_back({block.place(), line, run_in_root(line)});
            }
        }
    return ran;
}

}  // namespace

/// Values are not looked at here, so the compiler of generated code need not take its time.
tool::ProcessResult run_in_root(const std::string& command) {
    static const fs::path root = make_root();
    return tool::run_process(
        {"env", "FOVEA_CXXFLAGS=-O1", "sh", "-c", "cd '" + root.string() + "' && " + command});
}

const std::vector<RanCommand>& ran_commands() {
    static const std::vector<RanCommand> ran = run_commands();
    return ran;
}

}  // namespace fovea::test
