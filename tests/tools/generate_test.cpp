// What `fovea generate` writes for builds that have the runtime: two files, and what they are of.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/emit/emitter.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"
#include "tools/fovea/files/depfile.h"

using fovea::test::read_text;
using fovea::test::run_fovea;
using namespace fovea::tool;
namespace fs = std::filesystem;

namespace {

/// A model and a header of it, in a folder whose name depfiles and sources must escape.
struct Model {
    TemporaryFolder folder;
    fs::path mine = folder.path() / "my \\ #1 $x\"", out = folder.path() / "o u t";
    std::string file = (mine / "my model.cpp").string();

    Model() {
        fs::create_directory(mine);
        std::ofstream(mine / "size of it.h") << "constexpr int kSize = 5;\n";
        std::ofstream(file) << R"(#include <fovea.h>
#include "size of it.h"
using namespace fovea;
constexpr void trained(Scope s) {
    Tensor y = linear(s / "a", s.input("x", {"n", kSize}), 2);
    s.output("y", y);
    s.loss("distance", y * y);
}
)";
    }
    ProcessResult generate(std::vector<std::string> options) const {
        options.insert(options.begin(),
                       {"generate", file + ":trained", "-o", out.string(), "--isa", "baseline"});
        return run_fovea(options);
    }
};

}  // namespace

TEST_CASE("sources alone, by a name, and what they were made of") {
    const Model model;
    const std::string depfile = (model.folder.path() / "d").string();
    const auto generated =
        model.generate({"--name", "mine", "--sources-only", "--training", "--depfile", depfile});
    REQUIRE_MESSAGE(generated.status == 0, generated.output);
    std::set<std::string> files;
    for (const auto& entry : fs::directory_iterator(model.out))
        files.insert(entry.path().filename().string());
    CHECK(files == std::set<std::string>{"mine.cpp", "mine.h", "mine_c.cpp"});
    const std::string header = read_text(model.out / "mine.h");
    CHECK(header.find("Model& mine_model();") != header.npos);
    for (const char* part : {" forward(const Dims", " gradient(const Dims", "class Trainer",
                             "int mine_training_step(mine_trainer* trainer"})
        CHECK_MESSAGE(header.find(part) != header.npos, part);

    const std::vector<std::string> of = read_depfile(depfile);
    std::set<std::string> mine;
    bool has_language = false;
    for (const std::string& name : of) {
        CHECK_MESSAGE(fs::exists(name), name);
        if (fs::path(name).parent_path() == model.mine) mine.insert(name);
        has_language = has_language || name.ends_with("/dsl/fovea.h");
    }
    CHECK(mine == std::set<std::string>{model.file, (model.mine / "size of it.h").string()});
    CHECK(has_language);
    CHECK(read_text(depfile).starts_with(model.folder.path().string() + "/o\\ u\\ t/mine.cpp:"));
}

TEST_CASE("names that files and functions cannot have") {
    if (!fovea::test::has_turn(0, 4)) return;
    const Model model;
    for (const std::string name : {"string", "all", "clean"})
        CHECK(model.generate({"--name", name}).output ==
              "fovea: --name '" + name +
                  "': that is taken by C++, CMake or fovea's runtime; choose another "
                  "name\n");
    for (const char* name : {"my-model", "2nd", ""}) {
        const auto refused = model.generate({"--name", name});
        CHECK(refused.status == 2);
        CHECK(refused.output == "fovea: --name '" + std::string(name) +
                                    "': that is no name of a function; choose another name\n");
    }
    CHECK(run_fovea({"generate", "add_norm", "-o", model.out.string(), "--target", "ptx",
                     "--sources-only"})
              .output ==
          "fovea: --sources-only, --single-file and --depfile are for --target cpu\n");
    CHECK_FALSE(fs::exists(model.out));
}

TEST_CASE("a single file holds all that a model needs") {
    if (!fovea::test::has_turn(1, 2)) return;
    const Model model;
    const auto generated = model.generate({"--name", "mine", "--single-file", "--training"});
    REQUIRE_MESSAGE(generated.status == 0, generated.output);
    std::set<std::string> files;
    for (const auto& entry : fs::directory_iterator(model.out))
        files.insert(entry.path().filename().string());
    CHECK(files == std::set<std::string>{"mine.cpp", "mine.h"});
    const std::string source = read_text(model.out / "mine.cpp");
    CHECK(source.find("#include \"") == source.rfind("#include \""));  // the header alone
    for (const char* part : {"translator_main", "CudaDevice", "runner_main"})
        CHECK_MESSAGE(source.find(part) == source.npos, part);
    std::ofstream(model.out / "main.cpp") << R"(#include <cstdio>
#include "mine.h"
int main() {
    const auto model = fovea::mine::Model::random(1);
    fovea::mine::Session session(model);
    fovea::mine::Trainer trainer(model);
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const auto distance = [&] {
        double sum = 0;
        for (float y : session.forward({2}, {.x = x}).y) sum += y * y;
        return sum;
    };
    const double first = distance();
    for (int step = 0; step < 20; ++step) trainer.step({2}, {.x = x}, {.learning_rate = 0.01});
    std::puts(distance() < first ? "it learns" : "it does not learn");
}
)";
    const auto run = run_process(
        {"sh", "-c",
         "cd '" + model.out.string() +
             "' && ${CXX:-g++} -std=c++20 -O0 -Wall -Werror -fopenmp main.cpp mine.cpp -o main && "
             "./main"});
    CHECK(run.output == "it learns\n");
    CHECK(run_fovea({"generate", "add_norm", "-o", model.out.string(), "--single-file", "--isa",
                     "avx2,baseline"})
              .output ==
          "fovea: a single file holds kernels for one instruction set: say which, "
          "as by --isa avx2\n");
}

TEST_CASE("a depfile gives the names that it was given") {
    const TemporaryFolder folder;
    const fs::path depfile = folder.path() / "d";
    const std::vector<std::string> names = {"/a b/c", "/$x$$/#1", "/back\\slash", "/a\\ b\\\\#"};
    write_depfile(depfile, "/the target", names);
    CHECK(read_depfile(depfile) == names);
    CHECK(read_depfile(folder.path() / "none").empty());
}

TEST_CASE("beside a model lies the runtime that it needs, and nobody else's folder is touched") {
    TemporaryFolder folder;
    const auto generate = [&](const std::string& model) {
        return run_fovea({"generate", model, "-o", folder.path().string()});
    };
    const fs::path runtime = folder.path() / "fovea";
    fs::create_directory(runtime);
    std::ofstream(runtime / "mine.txt") << "mine";
    const ProcessResult refused = generate("add_norm");
    CHECK(refused.status == 2);
    CHECK(refused.output.find("'" + runtime.string() +
                              "' is where the runtime goes, and holds something else: choose "
                              "another folder") != std::string::npos);
    CHECK(read_text(runtime / "mine.txt") == "mine");

    fs::remove(runtime / "mine.txt");
    CHECK(generate("add_norm").status == 0);
    CHECK(fs::exists(runtime / "runtime.cmake"));
    CHECK(!fs::exists(runtime / "translator"));
    const std::string header = read_text(runtime / "typed/view.h");
    CHECK(header.find("#ifndef FOVEA_TYPED_VIEW_H\n#define FOVEA_TYPED_VIEW_H\n") !=
          std::string::npos);
    CHECK(header.ends_with("#endif  // FOVEA_TYPED_VIEW_H\n"));
    std::ofstream(runtime / "old.cpp") << "#error old";
    CHECK(generate("add_norm").status == 0);
    CHECK(!fs::exists(runtime / "old.cpp"));
}

TEST_CASE("models of a project share one runtime, and translators their library") {
    const TemporaryFolder folder;
    std::string list = "cmake_minimum_required(VERSION 3.16)\nproject(all LANGUAGES CXX)\n";
    for (const char* model : {"transformer", "add_norm", "seq2seq_attention"}) {
        CHECK(run_fovea({"generate", model, "-o", (folder.path() / model).string()}).status == 0);
        list += fmt::format("add_subdirectory({})\n", model);
    }
    std::ofstream(folder.path() / "CMakeLists.txt") << list;
    const ProcessResult result = run_process(
        {"sh", "-c",
         "cd '" + folder.path().string() + "' && cmake -G Ninja . && ninja -t targets all"});
    CHECK_MESSAGE(result.status == 0, result.output);
    const auto count = [&](const std::string& library) {
        int found = 0;
        std::istringstream lines(result.output);
        for (std::string line; std::getline(lines, line);)
            found += line.starts_with("lib" + library + "_") && line.ends_with(".a: phony");
        return found;
    };
    CHECK(count("fovea_runtime") == 1);
    CHECK(count("fovea_translator") == 1);
}

TEST_CASE("every build of the runtime optimizes the same files for speed") {
    const std::string fast = "/(" + std::string(fovea::emit::kFastRuntimeFiles) + ")";
    CHECK(read_text(FOVEA_SOURCE_DIR "/runtime/CMakeLists.txt").find(fast) != std::string::npos);
    CHECK(fovea::emit::runtime_cmake_text().find(fast) != std::string::npos);
}
