// Programs made at random are right at every stage, and the fuzzer notices one that is not.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "codegen/target/schedule.h"
#include "tests/random_seed.h"
#include "tests/runtime/temporary_folder.h"
#include "tests/tools/run_fovea.h"
#include "tools/fovea/fuzz/check_recipe.h"
#include "tools/fovea/fuzz/compile_forms.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/run_apart.h"
#include "tools/fovea/fuzz/shrink_recipe.h"

using namespace fovea;
using namespace fovea::tool::fuzz;

namespace {

void check_stages(std::uint64_t first, int count) {
    std::vector<Recipe> recipes;
    for (int i = 0; i < count; ++i) recipes.push_back(draw_recipe(first + std::uint64_t(i)));
    int compared = 0;
    const std::vector<Outcome> outcomes = check_recipes(recipes, {});
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        CAPTURE(recipes[i].seed);
        CAPTURE(outcomes[i].what);
        CHECK(outcomes[i].where == "");
        CHECK(outcomes[i].kind != Outcome::Kind::refused);
        compared += outcomes[i].kind == Outcome::Kind::right;
    }
    CHECK(compared > count * 3 / 4);
}

}  // namespace

TEST_CASE("a hundred of a fixed 300 programs are right at every stage") {
    for (const std::size_t part : test::turns_of(3, 3)) check_stages(1 + 100 * part, 100);
}

TEST_CASE("a random 100 are, too") {
    check_stages(1'000'000 + std::uint64_t(test::random_seed()) * 100, 100);
}

TEST_CASE("nodes stand where a model's author wrote them, not in headers of fovea") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const Graph graph = build(draw_recipe(seed)).graph;
        for (const Node& node : graph.nodes) {
            const std::string_view file = node.location.file;
            CAPTURE(seed);
            CAPTURE(row_of(node.op).name);
            CHECK_MESSAGE((file.find("codegen/") == file.npos && file.find("dsl/") == file.npos),
                          file << ":" << node.location.line);
        }
    }
}

TEST_CASE("a program of a seed is always the same") {
    CHECK(build(draw_recipe(5)).source == build(draw_recipe(5)).source);
    CHECK(build(draw_recipe(5)).source != build(draw_recipe(6)).source);
}

TEST_CASE(
    "some programs have a schedule of their own, which the models they are compiled for have") {
    std::uint64_t seed = 1;
    while (draw_recipe(seed).schedule.empty()) ++seed;
    CHECK(seed < 30);
    const Recipe recipe = draw_recipe(seed);
    Recipe plain = recipe;
    plain.schedule.clear();
    CHECK(target::print(model_of(recipe, "").targets.cpu) !=
          target::print(model_of(plain, "").targets.cpu));
    const Recipe shorter = shrink_recipe(recipe, [](const Recipe&) { return true; }, 400);
    CHECK(shorter.schedule.empty());
}

TEST_CASE("a failing program becomes a few lines") {
    // Fails wherever a tanh is left.
    const auto fails = [](const Recipe& recipe) {
        return build(recipe).source.find("tanh") != std::string::npos;
    };
    std::uint64_t seed = 1;
    while (!fails(draw_recipe(seed)) || draw_recipe(seed).lines.size() < 8) ++seed;
    const Recipe shorter = shrink_recipe(draw_recipe(seed), fails, 400);
    INFO(build(shorter).source);
    CHECK(fails(shorter));
    CHECK(shorter.outputs.size() == 1);
    CHECK(shorter.lines.size() <= 5);
}

TEST_CASE("a crash and a hang are answers") {
    CHECK(run_apart([] { return std::string("well"); }, {10, 10}).answer == "well");
    CHECK(run_apart([]() -> std::string { std::abort(); }, {10, 10}).end == "ended by signal 6");
    const auto sleeps = [] {
        std::this_thread::sleep_for(std::chrono::seconds(60));
        return std::string();
    };
    CHECK(run_apart(sleeps, {10, 1}).end == "took longer than 1 s");
    const auto computes = []() -> std::string {
        for (;;) std::getenv("FOVEA_SEED");
    };
    CHECK(run_apart(computes, {1, 60}).end == "took longer than 1 s of the cores");
}

TEST_CASE("kernels of drawn programs are right on this machine's cores") {
    const auto result = test::run_fovea({"fuzz", "--seed", "3", "--count", "4", "--target", "cpu"});
    CAPTURE(result.output);
    CHECK(result.status == 0);
    CHECK(result.output.find("seeds 3 to 6:") != std::string::npos);
    CHECK(result.output.find(" 0 wrong") != std::string::npos);
}

TEST_CASE("--first stops at the first failure, and writes it as it was drawn") {
    const test::TemporaryFolder folder;
    const auto result = test::run_fovea({"fuzz", "--seed", "3", "--count", "4", "--target", "cpu",
                                         "--first", "-o", folder.file("")},
                                        {"FOVEA_CXXFLAGS=-fno-such-flag"});
    CAPTURE(result.output);
    CHECK(result.status == 1);
    CHECK(result.output.starts_with("seed 3: fusion "));
    CHECK(result.output.find("no-such-flag") != std::string::npos);
    CHECK(result.output.find("seed 4") == std::string::npos);
    std::ifstream file(folder.file("fuzz_3.cpp"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    CHECK(text.find(build(draw_recipe(3)).source) != std::string::npos);
}
