// How large small programs and applications are: what they do not need is not in them.
#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>

#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"

using fovea::test::read_text;
using fovea::test::run_fovea;
using fovea::tool::run_process;

namespace {

constexpr const char* kBlock = FOVEA_SOURCE_DIR "/models/lessons/block.cpp:block";

constexpr const char* kApplication = R"(
#include <cstdio>
#include <vector>
#include "block.h"
int main(int, char** arguments) {
    const auto model = fovea::block::Model::load(arguments[1]);
    fovea::block::Session session(model);
    const std::vector<float> x(2 * 8 * 64, 0.5F);
    const std::vector<int> lens = {3, 8};
    std::printf("%g\n", session.forward({.batch = 2, .len = 8}, {x, lens}).output(1, 2, 3));
}
)";

/// Why sizes are not compared; empty where they are.
std::string why_not_measured() {
#if defined(__clang__)
    return "g++ does not link the runtime of a build by clang";
#endif
    const auto version = run_process({"sh", "-c", "g++ -dumpversion"});
    return version.output.substr(0, 2) == "12" ? "" : "the sizes are those of g++ 12";
}

/// Bytes of .text and .rodata.
std::int64_t code_and_tables(const std::string& program) {
    std::istringstream lines(run_process({"size", "-A", program}).output);
    std::int64_t sum = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string section;
        std::int64_t bytes = 0;
        if (words >> section >> bytes && (section == ".text" || section == ".rodata")) sum += bytes;
    }
    return sum;
}

/// The application around the block's files in `folder`, built by their CMake as a small one.
std::string build_small_application(const std::string& folder) {
    std::ofstream(folder + "/main.cpp") << kApplication;
    std::ofstream(folder + "/CMakeLists.txt") << "cmake_minimum_required(VERSION 3.16)\n"
                                                 "project(application LANGUAGES CXX)\n"
                                                 "add_subdirectory(block)\n"
                                                 "add_executable(application main.cpp)\n"
                                                 "target_link_libraries(application block)\n";
    const std::string build = folder + "/build";
    const auto built = run_process({"sh", "-c",
                                    "cmake -G Ninja -S '" + folder + "' -B '" + build +
                                        "' -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=Release "
                                        "-DFOVEA_SMALL=ON 2>&1 && ninja -C '" +
                                        build + "' application 2>&1"});
    CAPTURE(built.output);
    REQUIRE(built.status == 0);
    return build + "/application";
}

}  // namespace

TEST_CASE("the program of the block, for one instruction set, is small") {
    if (!fovea::test::has_turn(0, 2)) return;
    if (const std::string reason = why_not_measured(); !reason.empty()) {
        MESSAGE("not run: " << reason);
        return;
    }
    const fovea::tool::TemporaryFolder folder;
    const std::string program = (folder.path() / "block").string();
    const auto built = run_fovea({"build", kBlock, "-o", program, "--isa", "avx512"},
                                 {"CXX=g++", "FOVEA_CXXFLAGS="});
    CAPTURE(built.output);
    REQUIRE(built.status == 0);
    CHECK(std::filesystem::file_size(program) <= 484'300);
}

TEST_CASE("an application of the block is small, without what its model does not need") {
    if (!fovea::test::has_turn(1, 2)) return;
    if (const std::string reason = why_not_measured(); !reason.empty()) {
        MESSAGE("not run: " << reason);
        return;
    }
    const fovea::tool::TemporaryFolder folder;
    const std::string files = (folder.path() / "block").string();
    REQUIRE(run_fovea({"generate", kBlock, "-o", files, "--isa", "avx2"}).status == 0);
    const std::string description = read_text(files + "/block.cpp");
    for (const char* part : {"kStoredWeights", "kOpenSizes", "kShardedRuns"})
        CHECK(description.find(part) == description.npos);
    const std::string application = build_small_application(folder.path().string());
    const std::string names = run_process({"nm", "-C", application}).output;
    CHECK(names.find("fovea::runtime::load_parameters(") != names.npos);
    for (const char* name : {"quantize(", "unpack(", "call_of_shard(", "lay_out_shards(",
                             "DimBinder", "TraceFile", "std::basic_ifstream"}) {
        CAPTURE(name);
        CHECK(names.find(name) == names.npos);
    }
    CHECK(code_and_tables(application) <= 158'900);
    const auto run = run_process({"env", "FOVEA_PROFILE=trace.json", application, "/dev/null"});
    CHECK(run.output.find(
              "FOVEA_PROFILE: model 'block' was built with FOVEA_SMALL, without it\n") == 0);
}
