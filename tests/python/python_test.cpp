// Packages for Python: generated, called on arrays, trained inside PyTorch, installed by pip.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/python/python_with.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/process.h"

namespace {

namespace fs = std::filesystem;
using fovea::test::python_with;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;

const std::string kFovea = FOVEA_BINARY_DIR "/fovea";
const fs::path kCases = fs::path(FOVEA_SOURCE_DIR) / "tests/python";

/// The folder of a package: of the model `texts` with what goes on with texts, of others with what
/// trains.
std::string package(const std::string& file, const std::string& name) {
    static const fovea::tool::TemporaryFolder folder;
    const std::string path = (folder.path() / name).string();
    if (fs::exists(path)) return path;
    const ProcessResult result =
        run_process({kFovea, "generate", (fs::path(FOVEA_SOURCE_DIR) / file).string() + ":" + name,
                     "-o", path, "--python", name == "texts" ? "--decoding" : "--training", "--isa",
                     fovea::tool::isa_of_this_machine()});
    REQUIRE_MESSAGE(result.status == 0, result.output);
    return path;
}

/// Runs a script of this folder on packages, where a Python has `module` and numpy.
void passes(const std::string& module, const std::string& script,
            const std::vector<std::pair<const char*, const char*>>& models) {
    const std::string python = python_with(module, ", numpy");
    if (python.empty()) return;
    const fovea::tool::TemporaryFolder folder;
    std::string command = "cd '" + folder.path().string() + "' && PYTHONDONTWRITEBYTECODE=1 '" +
                          python + "' '" + (kCases / script).string() + "'";
    for (const auto& [file, name] : models) command += " '" + package(file, name) + "'";
    const ProcessResult result = run_process({"sh", "-c", command});
    CHECK_MESSAGE(result.status == 0, result.output);
}

}  // namespace

constexpr const char* kInterface = "tests/package/interface/models.cpp";
constexpr const char* kOwn = "tests/python/models.cpp";
constexpr const char* kBlock = "models/lessons/block.cpp";

TEST_CASE("a package reads and writes arrays of numpy where they lie") {
    passes("numpy", "arrays.py",
           {{kInterface, "tokens"},
            {kInterface, "counting"},
            {kInterface, "texts"},
            {kOwn, "keeps"},
            {kOwn, "keywords"}});
}

TEST_CASE("a package says what it does not take, and takes nothing else for it") {
    passes("numpy", "refusals.py",
           {{kInterface, "tokens"},
            {kInterface, "counting"},
            {kOwn, "losses"},
            {kOwn, "clashing"},
            {kOwn, "shorter"}});
}

TEST_CASE("functions of fovea have gradients inside JAX") {
    passes("jax", "functions.py",
           {{kOwn, "flash"},
            {kBlock, "block"},
            {kInterface, "tokens"},
            {kOwn, "losses"},
            {kOwn, "tracked"}});
}

TEST_CASE("attention of fovea trains inside a model of PyTorch") {
    passes("torch", "training.py",
           {{kOwn, "flash"},
            {kBlock, "block"},
            {kOwn, "losses"},
            {kInterface, "tokens"},
            {kOwn, "tracked"}});
}

TEST_CASE("the page's Python runs as it stands there") {
    const std::string python = python_with("torch", ", numpy");
    if (python.empty()) return;
    std::ifstream file(fs::path(FOVEA_SOURCE_DIR) / "tools/README.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const std::size_t begin = page.find("```python\n", page.find("## In Python"));
    REQUIRE(begin != page.npos);
    const std::size_t code = begin + 10, end = page.find("```", code);
    const ProcessResult result =
        run_process({"env", "PYTHONPATH=" + package("models/lessons/block.cpp", "block"),
                     "PYTHONDONTWRITEBYTECODE=1", python, "-c", page.substr(code, end - code)});
    CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("pip installs a package") {
    const std::string python = python_with("pip", ", setuptools, wheel, numpy");
    if (python.empty()) return;
    const fovea::tool::TemporaryFolder folder;
    const std::string target = (folder.path() / "site").string();
    const std::string source = package("tests/package/interface/models.cpp", "counting");
    const ProcessResult installed = run_process({"sh", "-c",
                                                 "'" + python +
                                                     "' -m pip install -q --no-deps --no-index "
                                                     "--no-build-isolation --target '" +
                                                     target + "' '" + source + "'"});
    REQUIRE_MESSAGE(installed.status == 0, installed.output);
    const ProcessResult used =
        run_process({"sh", "-c",
                     "cd '" + target + "' && '" + python +
                         "' -c 'import counting; counting.Session(counting.Model.random())'"});
    CHECK_MESSAGE(used.status == 0, used.output);
}

TEST_CASE("--python says what it does not take") {
    const auto refused = [](const std::string& option) {
        return run_process({kFovea, "generate", "add_norm", "-o", "/tmp/none", "--python", option,
                            option == "--target" ? "ptx" : "x"})
            .output;
    };
    CHECK(refused("--target") ==
          "fovea: --python is for --target cpu: the package runs on this machine's cores\n");
    CHECK(refused("--depfile") ==
          "fovea: --depfile is of the sources, and --python of a package that has none: leave out "
          "one of them\n");
}
