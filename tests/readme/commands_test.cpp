// Every command of the pages runs, but for those below `<!-- not run: why -->`.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "tests/readme/pages.h"
#include "tools/fovea/process.h"

namespace {

namespace fs = std::filesystem;
using namespace fovea::test;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;

/// A folder that looks like the root of the sources, with the build in it; what commands write
/// stays there.
fs::path make_root() {
    const fs::path root = fs::path(FOVEA_BINARY_DIR) / "readme/root";
    fs::remove_all(root);
    fs::create_directories(root);
    for (const char* folder : {"codegen", "dsl", "models", "runtime", "tests", "tools"})
        fs::create_directory_symlink(fs::path(FOVEA_SOURCE_DIR) / folder, root / folder);
    fs::create_directory_symlink(FOVEA_BINARY_DIR, root / "build");
    return root;
}

/// Values are not looked at here, so the compiler of generated code need not take its time.
ProcessResult run_in(const fs::path& root, const std::string& command) {
    return run_process(
        {"env", "FOVEA_CXXFLAGS=-O1", "sh", "-c", "cd '" + root.string() + "' && " + command});
}

bool writes_ptx(const std::string& command) { return command.find("ptx") != command.npos; }

/// Commands of the blocks that are run, each once, in the order of the pages.
std::vector<std::pair<std::string, std::string>> commands() {
    std::vector<std::pair<std::string, std::string>> found;
    std::set<std::string> seen;
    for (const Page& page : pages())
        for (const CodeBlock& block : page.blocks) {
            if (block.language != "sh") continue;
            if (block.mark.starts_with("not run: ")) {
                MESSAGE(block.place(), " is not run: ", block.mark.substr(9));
                continue;
            }
            for (const std::string& line : lines_of(block.text))
                if (seen.insert(line).second) found.push_back({block.place(), line});
        }
    return found;
}

/// A command of the root page, and the last line that it shows of its output.
struct Shown {
    std::string command, line;
};

std::vector<Shown> shown_commands() {
    std::vector<Shown> found;
    for (const std::string& line : lines_of(marked_block("commands").text)) {
        if (line.starts_with("$ ")) found.push_back({line.substr(2), ""});
        else if (!found.empty()) found.back().line = line;
    }
    return found;
}

}  // namespace

TEST_CASE("the commands of the pages run") {
    const fs::path root = make_root();
    const bool has_ptx = run_in(root, "build/fovea show add_norm --stage ptx").status == 0;
    for (const auto& [place, command] : commands()) {
        if (writes_ptx(command) && !has_ptx) {
            MESSAGE(place, " is not run: this build has no LLVM");
            continue;
        }
        const ProcessResult result = run_in(root, command);
        CHECK_MESSAGE(result.status == 0, place << ": " << command << "\n" << result.output);
    }
}

TEST_CASE("the root page shows what its commands print") {
    const fs::path root = make_root();
    const std::vector<Shown> shown = shown_commands();
    REQUIRE(shown.size() == 2);
    CHECK(shown[0].command == "tools/demo.sh");  // tests/demo trains and translates as it does
    const ProcessResult result = run_in(root, shown[1].command);
    REQUIRE(result.status == 0);
    const std::string line = lines_of(result.output).back();
    if (updates_golden_files()) {
        std::string page = read_file(fs::path(FOVEA_SOURCE_DIR) / "README.md");
        page.replace(page.find(shown[1].line), shown[1].line.size(), line);
        std::ofstream(fs::path(FOVEA_SOURCE_DIR) / "README.md", std::ios::binary) << page;
        return;
    }
    CHECK(line == shown[1].line);
}
