// Which outputs others of a batch leave as they are, and that a difference there is said.
#include "tools/fovea/fuzz/neighbours.h"

#include <doctest/doctest.h>

#include <cmath>

#include "dsl/fovea.h"

using namespace fovea;
using namespace fovea::tool;
using namespace fovea::tool::fuzz;

namespace {

void rows(Scope s) {
    Tensor x = s.input("x", {"batch", "len", 4});
    s.output("y", softmax(x * 2.0));
    s.output("centred", x - mean(x, 0, true));
}

void masked(Scope s) {
    Tensor x = s.input("x", {"batch", "len"}), lens = s.input("lens", {"batch"}, i32);
    s.output("seen", masked_softmax(x, padding(lens)));
    s.output("all", softmax(x));
}

/// Each number is the batch's own, whatever x is: other places of a merged axis have equal values.
void of_one_value(Scope s) {
    Tensor x = s.input("x", {"batch", "len", "len"}), a = s.input("a", {"batch", 1, 1});
    s.output("y", rearrange(x * a / x, "a b c -> a (b c)"));
}

CompiledProgram compiled(void (*model)(Scope)) {
    Graph graph;
    model(Scope{&graph});
    return compile_model("rows", "", {},
                         {{.name = "forward", .graph = graph, .gradients = Gradients::none}})
        .programs[0];
}

const Recipe kRecipe{.name = "rows", .sizes = {{"batch", 2}, {"len", 3}}, .seed = 5};

Array zeros(std::vector<std::int64_t> shape) {
    Array array{std::move(shape), {}};
    array.values.resize(std::size_t(array.size()));
    return array;
}

}  // namespace

TEST_CASE("the rows of a batch are compared where the others leave them as they are") {
    const CompiledProgram program = compiled(rows);
    const Neighbours others(program, kRecipe, {"batch"}, {});
    REQUIRE(others.any());
    const std::int64_t batch = others.sizes().at("batch");
    CHECK(batch > 2);
    CHECK(others.values().at("x").shape == std::vector<std::int64_t>{batch, 3, 4});
    Values alone = {{"y", zeros({2, 3, 4})}, {"centred", zeros({2, 3, 4})}};
    Values beside = {{"y", zeros({batch, 3, 4})}, {"centred", zeros({batch, 3, 4})}};
    CHECK(!others.why_not_same(alone, beside));
    beside["centred"].values[5] = 1;  // depends on the others
    beside["y"].values[24] = 1;       // is one of the others
    CHECK(!others.why_not_same(alone, beside));
    beside["y"].values[23] = 1;
    CHECK(others.why_not_same(alone, beside) == "element 23 of y is 0 alone and 1 beside others");
    beside["y"].values[23] = std::nan("");
    CHECK(others.why_not_same(alone, beside));
    alone["y"].values[23] = std::nan("");
    CHECK(!others.why_not_same(alone, beside));
}

TEST_CASE("what is masked may be longer, what is not may not") {
    const CompiledProgram program = compiled(masked);
    const Neighbours others(program, kRecipe, {"len"}, {});
    const std::int64_t len = others.sizes().at("len");
    CHECK(len > 3);
    Values alone = {{"seen", zeros({2, 3})}, {"all", zeros({2, 3})}};
    Values beside = {{"seen", zeros({2, len})}, {"all", zeros({2, len})}};
    beside["all"].values[0] = 1;                // depends on the longer row
    beside["seen"].values[std::size_t(3)] = 1;  // is padding
    CHECK(!others.why_not_same(alone, beside));
    beside["seen"].values[std::size_t(len)] = 1;
    CHECK(others.why_not_same(alone, beside) == "element 3 of seen is 0 alone and 1 beside others");
}

TEST_CASE("values that are equal but for rounding are none that stay") {
    const CompiledProgram program = compiled(of_one_value);
    const Neighbours others(program, kRecipe, {"len"}, {});
    REQUIRE(others.any());
    const std::int64_t len = others.sizes().at("len");
    Values alone = {{"y", zeros({2, 9})}}, beside = {{"y", zeros({2, len * len})}};
    // Of the second batch, whose numbers are others behind the first row.
    for (std::int64_t i = 3; i < 9; ++i) beside["y"].values[std::size_t(len * len + i)] = 1;
    CHECK(others.why_not_same(alone, beside).value_or("the same") == "the same");
    beside["y"].values[2] = 1;
    CHECK(others.why_not_same(alone, beside) == "element 2 of y is 0 alone and 1 beside others");
}

TEST_CASE("lengths stay as they are where rows are longer") {
    const CompiledProgram program = compiled(masked);
    const Neighbours others(program, kRecipe, {"len"}, {});
    for (double length : others.values().at("lens").values) CHECK(length <= 3);
}

TEST_CASE("a program without a batch has no neighbours") {
    const CompiledProgram program = compiled(rows);
    CHECK(!Neighbours(program, {.name = "none", .sizes = {}}, {"batch"}, {}).any());
}

TEST_CASE("numbers drawn among few are not those drawn among many, whatever they add up to") {
    Graph graph;
    Scope s{&graph};
    const Tensor x = s.input("x", {"batch", "len"});
    // Twenty ones of which a third is kept: with one seed, several sums would be equal by chance.
    const Tensor ones = x * 0.0 + full(s, {20, 1, 1}, 1.0);
    s.output("y", sum(dropout(ones, 2.0 / 3), 0));
    s.output("z", x + 1.0);
    const CompiledProgram program =
        compile_model(
            "drawn", "", {},
            {{.name = "forward", .graph = graph, .training = true, .gradients = Gradients::none}})
            .programs[0];
    const Recipe recipe{.name = "drawn", .sizes = {{"batch", 2}, {"len", 3}}, .seed = 5};
    const Neighbours others(program, recipe, {"batch"}, {.training = true, .seed = 1});
    REQUIRE(others.any());
    const std::int64_t batch = others.sizes().at("batch");
    Values alone = {{"y", zeros({2, 3})}, {"z", zeros({2, 3})}};
    Values beside = {{"y", zeros({batch, 3})}, {"z", zeros({batch, 3})}};
    for (double& value : beside["y"].values) value = 1;
    CHECK(others.why_not_same(alone, beside).value_or("the same") == "the same");
    beside["z"].values[1] = 1;
    CHECK(others.why_not_same(alone, beside).value_or("the same") ==
          "element 1 of z is 0 alone and 1 beside others");
}
