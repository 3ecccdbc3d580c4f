// What a pass changed, by names that stay where numbers move.
#include <doctest/doctest.h>

#include "codegen/graph/print_changes.h"
#include "codegen/optimize/dead_code.h"
#include "dsl/fovea.h"

using namespace fovea;

namespace {

Graph model(bool with_dead) {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 8});
    if (with_dead) linear(s / "unused", x, 4, {.bias = false});
    s.output("y", linear(s / "dense", x, 4, {.bias = false}));
    return graph;
}

}  // namespace

TEST_CASE("what a pass removes is listed by its module") {
    const Graph before = model(true);
    const std::string text = print_changes(before, dead_code(before));
    CHECK(
        text.starts_with("- unused.einsum:16 = einsum 'a b, c b -> a c' (x, unused.weight) : f32 "
                         "[batch, 4]\n"));
    CHECK(text.find("dense") == std::string::npos);
    CHECK(text.ends_with("1 gone, 0 come, 5 stay\n"));
}

TEST_CASE("a graph that stays is unchanged, whatever its numbers are") {
    CHECK(print_changes(model(false), model(false)) == "unchanged\n");
    const std::string text = print_changes(model(false), model(true));
    CHECK(text.find("- ") == std::string::npos);
    CHECK(text.find("+ unused.weight = parameter") != std::string::npos);
}
