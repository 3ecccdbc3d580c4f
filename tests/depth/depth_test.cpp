// The compilers take a deep model within their own limits, and one that is too deep is told so.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/fovea/process.h"

namespace {

using namespace fovea::tool;

ProcessResult compile(const std::string& compiler, int layers,
                      const std::vector<std::string>& options = {}) {
    const std::string sources = FOVEA_SOURCE_DIR;
    std::vector<std::string> command = {compiler,
                                        "-std=c++20",
                                        "-fsyntax-only",
                                        "-I" + sources,
                                        "-I" + sources + "/dsl",
                                        "-DLAYERS=" + std::to_string(layers),
                                        sources + "/tests/depth/cases/decoder.cpp"};
    command.insert(command.end(), options.begin(), options.end());
    return run_process(command);
}

void check(const std::string& compiler, const std::string& limit, const std::string& said) {
    if (find_program(compiler).empty()) {
        MESSAGE(compiler << " is not installed: skipped");
        return;
    }
    const ProcessResult deep = compile(compiler, 48);
    CHECK_MESSAGE(deep.status == 0, deep.output);
    const ProcessResult too_deep = compile(compiler, 4, {limit + "=20000"});
    INFO(too_deep.output);
    CHECK(too_deep.status != 0);
    CHECK(too_deep.output.find("more work than the compiler's limit") != std::string::npos);
    CHECK(too_deep.output.find(said) != std::string::npos);
}

}  // namespace

TEST_CASE("g++ takes 48 layers") {
    check("g++", "-fconstexpr-ops-limit", "operation count exceeds limit of 20000");
}
TEST_CASE("clang takes 48 layers") {
    check("clang++-19", "-fconstexpr-steps", "hit maximum step limit");
}
