// Wrong models do not compile, and the compiler's output says why: the cases of tests/errors with
// the very text that they throw at run time, and those of cases/ here, which only a compiler sees.
//
// `<case>.txt` holds what because{...} says; where a mistake has no such text, `<case>.g++.txt` and
// `<case>.clang.txt` hold the compilers' first error. `--update` writes them anew.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "tests/random_seed.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/process.h"

namespace {

namespace fs = std::filesystem;
using namespace fovea::tool;

const fs::path kSources = FOVEA_SOURCE_DIR;

std::string compile(const std::string& compiler, const fs::path& file) {
    ProcessResult result = run_process({"env", "LC_ALL=C", compiler, "-std=c++20", "-fsyntax-only",
                                        "-fdiagnostics-color=never", "-I" + kSources.string(),
                                        "-I" + (kSources / "dsl").string(), file.string()});
    CHECK_MESSAGE(result.status != 0, compiler << " compiles it");
    return result.output;
}

/// `error: …` without the place.
std::string error_text(const std::string& output) {
    std::string line = first_error(output);
    return line.substr(std::min(line.find("error:"), line.size()));
}

void compare(const fs::path& path, const std::string& text) {
    if (fovea::test::updates_golden_files()) std::ofstream(path) << text << "\n";
    std::ifstream file(path);
    CHECK(std::string{std::istreambuf_iterator<char>(file), {}} == text + "\n");
}

void check_output(const std::string& output, const fs::path& expected, const std::string& kind) {
    std::vector<std::string> messages = because_messages(output);
    INFO(output);
    if (!messages.empty())
        return compare(fs::path(expected).replace_extension(".txt"),
                       fmt::format("{}", fmt::join(messages, "\n")));
    compare(fs::path(expected).replace_extension("." + kind + ".txt"), error_text(output));
}

std::vector<fs::path> files(const fs::path& folder, const std::string& extension) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == extension) found.push_back(entry.path());
    return found;
}

void check_all(const std::string& compiler, const std::string& kind) {
    if (find_program(compiler).empty()) {
        MESSAGE(compiler << " is not installed: skipped");
        return;
    }
    TemporaryFolder temporary;
    std::vector<fs::path> headers = files(kSources / "tests/errors/cases", ".h");
    // Which have one text for both compilers: half of them each time, or all where FOVEA_WHOLE is
    // set.
    std::shuffle(headers.begin(), headers.end(), std::mt19937(fovea::test::random_seed()));
    const bool all = std::getenv("FOVEA_WHOLE") || fovea::test::updates_golden_files();
    if (!all) headers.resize((headers.size() + 1) / 2);
    for (const fs::path& header : headers) {
        CAPTURE(header.stem().string());
        fs::path source = temporary.path() / "case.cpp";
        std::ofstream(source) << fmt::format(
            "#include \"{}\"\nstatic_assert(fovea::well_formed<[](fovea::Scope s) {{ {}(s); "
            "}}>);\n",
            header.string(), header.stem().string());
        check_output(compile(compiler, source), header, kind);
    }
    for (const fs::path& source : files(kSources / "tests/compile_fail/cases", ".cpp")) {
        CAPTURE(source.stem().string());
        check_output(compile(compiler, source), source, kind);
    }
}

}  // namespace

TEST_CASE("g++ says why a wrong model does not compile") { check_all("g++", "g++"); }
TEST_CASE("clang says why a wrong model does not compile") { check_all("clang++-19", "clang"); }
