// Looking up rows and adding to rows.
#include "codegen/ops/gather.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("rows by id, and their gradient") {
    for (const Extents& ids : {Extents{}, Extents{3}, Extents{2, 3}, Extents{0}})
        for (const Extents& table : {Extents{4, 3}, Extents{4}, Extents{4, 2, 1}}) {
            Graph graph;
            output("y", gather(input(graph, "table", table), input(graph, "ids", ids, i32)));
            Array numbers = random_array(ids, 10, 0, 3.99);
            for (double& number : numbers.values) number = std::floor(number);
            check_gradients(graph, {{"table", random_array(table, 11)}, {"ids", numbers}});
        }
}

TEST_CASE("scatter_add sums rows of equal ids, and leaves the others 0") {
    Graph graph;
    Tensor values = input(graph, "v", {3, 2}), ids = input(graph, "ids", {3}, i32);
    output("y", scatter_add(values, ids, 4));
    Arrays arrays{{"v", {{3, 2}, {1, 2, 3, 4, 5, 6}}}, {"ids", {{3}, {2, 0, 2}}}};
    check_close(run(graph, arrays), {{4, 2}, {3, 4, 0, 0, 6, 8, 0, 0}});
    check_gradients(graph, arrays);
}

TEST_CASE("rows of bf16 are added in f32, and their sum is rounded") {
    Graph graph;
    Tensor values = input(graph, "v", {3, 1}), ids = input(graph, "ids", {3}, i32);
    output("y", cast(scatter_add(cast(values, bf16), ids, 1), f32));
    // 256 + 1 + 1 is 258 in bfloat16, 256 + 1 is 256 there.
    const Arrays arrays{{"v", {{3, 1}, {256, 1, 1}}}, {"ids", {{3}, {0, 0, 0}}}};
    check_close(run(graph, arrays), {{1, 1}, {258}});
}

TEST_CASE("an id outside of the table is an error") {
    Graph graph;
    output("y", gather(input(graph, "table", {2, 1}), input(graph, "ids", {1}, i32)));
    Arrays arrays{{"table", filled({2, 1}, 0)}, {"ids", filled({1}, 2)}};
    CHECK_THROWS_WITH_AS(
        run(graph, arrays),
        "gather_test.cpp:40: element [0] of the ids of gather is 2; ids are from 0 to 1",
        UserError);
}

TEST_CASE("an id outside of a table of one row, and of none, is an error") {
    for (const std::int64_t rows : {0, 1}) {
        CAPTURE(rows);
        Graph graph;
        output("y", gather(input(graph, "table", {rows, 1}), input(graph, "ids", {1}, i32)));
        const Arrays arrays{{"table", filled({rows, 1}, 0)}, {"ids", filled({1}, 1)}};
        const std::string range = rows == 0 ? "the table has no rows" : "ids are from 0 to 0";
        CHECK_THROWS_WITH_AS(
            run(graph, arrays),
            ("gather_test.cpp:52: element [0] of the ids of gather is 1; " + range).c_str(),
            UserError);
    }
}
