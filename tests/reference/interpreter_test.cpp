// The interpreter's binding of sizes and its errors.
#include "codegen/reference/interpreter.h"

#include "codegen/ops/movement.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Tensor symbolic(Graph& graph, const char* name, const Shape& shape, DType type = f32) {
    return make(graph, {.op = Op::input, .dtype = type, .shape = shape, .name = name});
}

}  // namespace

TEST_CASE("sizes follow from the inputs") {
    Graph graph;
    Tensor x = symbolic(graph, "x", {"batch", "len"});
    output("y", x * Dim("len") + full(graph, {"batch", 1}, 1));
    Interpreter interpreter(graph);
    interpreter.set("x", {{2, 3}, {1, 2, 3, 4, 5, 6}});
    check_close(interpreter.output("y"), {{2, 3}, {4, 7, 10, 13, 16, 19}});
    CHECK(value_of(interpreter.sizes(), Dim("batch") * Dim("len") + Dim(1)) == 7);
}

TEST_CASE("a new value is a new result") {
    Graph graph;
    output("y", input(graph, "x", {1}) + 1.0);
    Interpreter interpreter(graph);
    interpreter.set("x", {{1}, {1}});
    CHECK(interpreter.output("y").values[0] == 2);
    interpreter.set("x", {{1}, {5}});
    CHECK(interpreter.output("y").values[0] == 6);
    CHECK(interpreter.outputs().size() == 1);
}

TEST_CASE("mistakes are named") {
    Graph graph;
    Tensor x = symbolic(graph, "x", {"batch", 3}), z = symbolic(graph, "z", {"batch", 3});
    output("y", x + z);
    Interpreter interpreter(graph);
    CHECK_THROWS_WITH_AS(interpreter.output("w"), "the model has no output w", UserError);
    CHECK_THROWS_WITH_AS(interpreter.set("w", {}), "the model has no input or parameter w",
                         UserError);
    CHECK_THROWS_WITH_AS(interpreter.set("x", {{2}, {1, 2}}), "x: expected [batch, 3], got [2]",
                         UserError);
    CHECK_THROWS_WITH_AS(interpreter.set("x", filled({2, 4}, 0)),
                         "x: expected [batch, 3], got [2, 4]", UserError);
    CHECK_THROWS_WITH_AS(interpreter.output("y"), "input x has no value: give one", UserError);
    interpreter.set("x", filled({2, 3}, 0));
    CHECK_THROWS_WITH_AS(interpreter.set("z", filled({4, 3}, 0)),
                         "z: expected [batch, 3], got [4, 3], where batch is 2", UserError);
    CHECK_THROWS_WITH_AS(value_of({}, Dim("len")),
                         "the size of len is not known: give an input that has it", UserError);
}

TEST_CASE("sizes follow from axes that are twice a size, in any order of the inputs") {
    Graph graph;
    const Dim half = "half", len = "len";
    Tensor x = symbolic(graph, "x", {half * 2, half + len}), z = symbolic(graph, "z", {len});
    output("y", sum(sum(x, 0), 0) + sum(z, 0));
    Interpreter interpreter(graph);
    interpreter.set("x", filled({6, 5}, 1));
    CHECK(interpreter.sizes() == DimSizes{{Symbol("half"), 3}, {Symbol("len"), 2}});
    CHECK_THROWS_WITH_AS(interpreter.set("z", filled({4}, 0)),
                         "z: expected [len], got [4], where len is 2", UserError);
    Interpreter later(graph);
    later.set("z", filled({2}, 1));
    CHECK_THROWS_WITH_AS(
        later.set("x", filled({7, 5}, 0)),
        "x: expected [2*half, len+half], got [7, 5]: no size 'half' makes 2*half 7", UserError);
    CHECK_THROWS_WITH_AS(later.set("x", filled({6, 6}, 0)),
                         "x: expected [2*half, len+half], got [6, 6], where len+half is 5",
                         UserError);
}

TEST_CASE("a size that is negative for these inputs is named, with its line") {
    Graph graph;
    Tensor x = symbolic(graph, "x", {"n"});
    output("y", slice(x, 0, 0, Dim("n") - Dim(3), {"f.cpp", 7}));
    Interpreter interpreter(graph);
    interpreter.set("x", filled({2}, 0));
    CHECK_THROWS_WITH_AS(interpreter.output("y"), "f.cpp:7: a size is negative: n-3 is -1",
                         UserError);
}
