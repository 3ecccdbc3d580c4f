// Gradients of convolutions as products over windows.
#include "codegen/optimize/sum_windows_into_einsum.h"

#include "codegen/ops/composed/convolution.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// With the gradients of x and of the weight.
Graph convolution(const Extents& of_x, const Extents& of_weight, const Conv2dOptions& options) {
    Graph graph;
    Tensor x = input(graph, "x", of_x), weight = input(graph, "w", of_weight);
    output("y", conv2d(x, weight, options));
    return add_gradients(graph, {.from_loss = false, .of_inputs = true});
}

void check_same(const Graph& before, const Graph& after, const Extents& of_x,
                const Extents& of_weight) {
    verify_graph(after);
    Arrays arrays{{"x", random_array(of_x, 1)}, {"w", random_array(of_weight, 2)}};
    arrays["y.grad"] = random_array(run(before, arrays).shape, 3);
    for (const char* name : {"y", "x.grad", "w.grad"})
        check_close(run(after, arrays, name), run(before, arrays, name));
}

}  // namespace

TEST_CASE("at stride 1 the gradient of x is a product over windows of no more than it reads") {
    const Extents of_x{2, 3, 6, 7}, of_weight{4, 3, 3, 2};
    for (int padding : {0, 1, 2, 5}) {
        const Graph before = convolution(of_x, of_weight, {.padding = padding, .dilation = {1, 2}});
        CHECK(count(before, Op::sum_windows) == 2);
        const Graph after = dead_code(sum_windows_into_einsum(before));
        CHECK(count(after, Op::sum_windows) == 0);
        CHECK(count(after, Op::einsum) == 3);
        check_same(before, after, of_x, of_weight);
        for (const Node& node : after.nodes)
            if (node.op == Op::einsum && node.shape.rank() == 4 && node.backward)
                CHECK(node.shape[3].value() <= 7);
    }
}

TEST_CASE("of an axis without positions the gradient has none, whatever was padded") {
    const Extents of_x{1, 2, 3, 0}, of_weight{2, 2, 3, 2};
    const Graph before = convolution(of_x, of_weight, {.padding = {0, 1}});
    check_same(before, dead_code(sum_windows_into_einsum(before)), of_x, of_weight);
}

TEST_CASE("at other strides the product is stored with positions innermost") {
    const Extents of_x{2, 3, 7, 9}, of_weight{4, 3, 3, 2};
    const Graph before = convolution(of_x, of_weight, {.stride = 2, .padding = 1});
    const Graph after = dead_code(sum_windows_into_einsum(before));
    CHECK(count(after, Op::sum_windows) == 2);
    check_same(before, after, of_x, of_weight);
    bool is_stored_so = false;
    for (const Node& node : after.nodes)
        is_stored_so |=
            node.op == Op::einsum && node.shape.rank() == 6 && node.shape[5].value() == 5;
    CHECK(is_stored_so);
}

TEST_CASE("what is read elsewhere, or has no product, stays a sum of windows") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 4, 3}), y = input(graph, "z", {2, 4, 3});
    output("y", sum_windows(x * y, 1, 6, {}));
    CHECK(count(sum_windows_into_einsum(graph), Op::sum_windows) == 1);
    Graph shared;
    Tensor a = input(shared, "a", {5, 4}), b = input(shared, "b", {5, 3});
    Tensor product = einsum("n p, n j -> p j", a, b);
    output("y", sum_windows(product, 0, 6, {}));
    output("product", product);
    CHECK(count(sum_windows_into_einsum(shared), Op::sum_windows) == 1);
}
