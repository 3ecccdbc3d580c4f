// What the pages say that commands print is what they print.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/readme/commands.h"
#include "tests/readme/pages.h"

namespace {

using namespace fovea::test;

/// A command of a page, and the lines below it; `...` stands for any.
struct Console {
    std::string place, command;
    int status = 0;
    std::vector<std::string> lines;
};

/// Of all pages but the root's, whose block has a test of its own.
std::vector<Console> consoles() {
    std::vector<Console> found;
    for (const Page& page : pages())
        for (const CodeBlock& block : page.blocks) {
            if (block.language != "console" || block.mark == "commands") continue;
            const int status =
                block.mark.starts_with("status ") ? std::stoi(block.mark.substr(7)) : 0;
            for (const std::string& line : lines_of(block.text)) {
                if (line.starts_with("$ "))
                    found.push_back({block.place(), line.substr(2), status, {}});
                else found.back().lines.push_back(line);
            }
        }
    return found;
}

/// Without the blanks at its end.
std::string cut(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

/// Whether `shown` from line `i` on is `printed` from line `k` on.
bool matches(const std::vector<std::string>& shown, const std::vector<std::string>& printed,
             std::size_t i = 0, std::size_t k = 0) {
    if (i == shown.size()) return k == printed.size();
    if (shown[i] == "...")
        return matches(shown, printed, i + 1, k) ||
               (k < printed.size() && matches(shown, printed, i, k + 1));
    return k < printed.size() && shown[i] == cut(printed[k]) &&
           matches(shown, printed, i + 1, k + 1);
}

}  // namespace

TEST_CASE("lines of a page stand for those that are printed") {
    CHECK(matches({"a", "...", "d"}, {"a", "b", "c", "d"}));
    CHECK(matches({"...", "a"}, {"a"}));
    CHECK(!matches({"a"}, {"a", "b"}));
    CHECK(!matches({"...", "b"}, {"a"}));
}

TEST_CASE("what the pages show of commands is what they print") {
    ran_commands();  // some of them build what these show
    for (const Console& console : consoles()) {
        const auto result = run_in_root(console.command);
        CHECK_MESSAGE(result.status == console.status, console.place);
        CHECK_MESSAGE(matches(console.lines, lines_of(result.output)),
                      console.place << ": " << console.command << "\n"
                                    << result.output);
    }
}
