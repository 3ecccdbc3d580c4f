// Every piece of code on a page stands in a file that is compiled or run.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

#include "tests/readme/pages.h"

namespace {

namespace fs = std::filesystem;
using namespace fovea::test;

const std::set<std::string> kCode = {"cpp", "c", "cmake", "python"};
/// Of the root page; readme_test.cpp compiles them.
const std::set<std::string> kOfTheRoot = {"loop", "use"};

}  // namespace

TEST_CASE("code of the pages stands in files") {
    for (const Page& page : pages())
        for (const CodeBlock& block : page.blocks) {
            if (!kCode.contains(block.language)) continue;
            if (block.text == read_file(fs::path(FOVEA_SOURCE_DIR) / "models/lessons/block.cpp"))
                continue;
            if (page.name == "README.md" && kOfTheRoot.contains(block.mark)) continue;
            if (block.mark.starts_with("not run: ")) {
                MESSAGE(block.place(), " is not run: ", block.mark.substr(9));
                continue;
            }
            const bool is_run = block.mark.starts_with("run by ");
            const fs::path file =
                fs::path(FOVEA_SOURCE_DIR) / (is_run ? block.mark.substr(7) : block.mark);
            const bool is_there = !block.mark.empty() && fs::is_regular_file(file);
            CHECK_MESSAGE(is_there, block.place() << ": above it stands no file that has it: '"
                                                  << block.mark << "'");
            if (!is_there || is_run) continue;
            CHECK_MESSAGE(without_indent(read_file(file)).find(without_indent(block.text)) !=
                              std::string::npos,
                          block.place() << " is not in " << block.mark);
        }
}
