// How large a small program is: what it does not need is not in it.
#include <doctest/doctest.h>

#include "tests/tools/run_fovea.h"

using fovea::test::run_fovea;

TEST_CASE("the program of the block, for one instruction set, is small") {
    const auto version = fovea::tool::run_process({"sh", "-c", "g++ -dumpversion"});
    if (version.output.substr(0, 2) != "12") {
        MESSAGE("not run: the sizes are those of g++ 12");
        return;
    }
#if defined(__clang__)
    MESSAGE("not run: g++ does not link the runtime of a build by clang");
    return;
#endif
    const fovea::tool::TemporaryFolder folder;
    const std::string program = (folder.path() / "block").string();
    const auto built = run_fovea({"build", (FOVEA_SOURCE_DIR "/models/lessons/block.cpp:block"),
                                  "-o", program, "--isa", "avx512"},
                                 {"CXX=g++", "FOVEA_CXXFLAGS="});
    CAPTURE(built.output);
    REQUIRE(built.status == 0);
    CHECK(std::filesystem::file_size(program) <= 487'000);
}
