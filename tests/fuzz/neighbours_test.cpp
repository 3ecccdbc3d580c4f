// Which outputs others of a batch leave as they are, and that a difference there is said.
#include "tools/fovea/fuzz/batch_mates.h"

#include <doctest/doctest.h>

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

CompiledProgram compiled() {
    Graph graph;
    rows(Scope{&graph});
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
    const CompiledProgram program = compiled();
    const BatchMates mates(program, kRecipe, {});
    REQUIRE(mates.any());
    const std::int64_t batch = mates.sizes().at("batch");
    CHECK(batch > 2);
    CHECK(mates.values().at("x").shape == std::vector<std::int64_t>{batch, 3, 4});
    Values alone = {{"y", zeros({2, 3, 4})}, {"centred", zeros({2, 3, 4})}};
    Values beside = {{"y", zeros({batch, 3, 4})}, {"centred", zeros({batch, 3, 4})}};
    CHECK(!mates.why_not_same(alone, beside));
    beside["centred"].values[5] = 1;  // depends on the others
    beside["y"].values[24] = 1;       // is one of the others
    CHECK(!mates.why_not_same(alone, beside));
    beside["y"].values[23] = 1;
    CHECK(mates.why_not_same(alone, beside) == "element 23 of y is 0 alone and 1 beside others");
}

TEST_CASE("a program without a batch has no mates") {
    const CompiledProgram program = compiled();
    CHECK(!BatchMates(program, {.name = "none", .sizes = {}}, {}).any());
}
