// Every command of the pages runs, but for those below `<!-- not run: why -->`.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "tests/readme/commands.h"
#include "tests/readme/pages.h"

namespace {

namespace fs = std::filesystem;
using namespace fovea::test;
using fovea::tool::ProcessResult;

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
    for (const auto& [place, command, result] : ran_commands())
        CHECK_MESSAGE(result.status == 0, place << ": " << command << "\n" << result.output);
}

TEST_CASE("the root page shows what its commands print") {
    const std::vector<Shown> shown = shown_commands();
    REQUIRE(shown.size() == 2);
    CHECK(shown[0].command == "tools/demo.sh");  // tests/demo trains and translates as it does
    const ProcessResult result = run_in_root(shown[1].command);
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
