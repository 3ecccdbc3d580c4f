// Convolutions read their windows in place: no array of windows is stored.
#include "codegen/fuse/fuse.h"
#include "codegen/ops/composed/convolution.h"
#include "codegen/ops/composed/pooling.h"
#include "codegen/optimize/sum_windows_into_einsum.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Stored {
    int contractions = 0;
    std::int64_t largest = 0;  // elements of what a kernel stores
};

Stored stored_by(const Graph& graph) {
    const fuse::FusedGraph fused = fuse::fuse(graph, true);
    Stored stored;
    for (const fuse::Group& group : fused.groups) {
        stored.contractions += group.form == fuse::Form::contract;
        for (int id : group.stored) {
            std::int64_t size = 1;
            for (const Dim& dim : graph[id].shape) size *= dim.value();
            stored.largest = std::max(stored.largest, size);
        }
    }
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        if (graph[id].op == Op::windows) CHECK(fused.layouts[std::size_t(id)].base != id);
    return stored;
}

Graph with_gradients(const Graph& graph) {
    const Graph all = add_gradients(graph, {.from_loss = false, .of_inputs = true});
    return optimized(sum_windows_into_einsum(all));
}

}  // namespace

TEST_CASE("a convolution is a product that reads windows in place, and so are its gradients") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 3, 6, 7}), weight = input(graph, "w", {5, 3, 3, 3});
    Tensor bias = input(graph, "b", {5});
    output("y", relu(conv2d(x, weight, bias, {.padding = 1})));
    const Stored forward = stored_by(optimized(graph));
    CHECK(forward.contractions == 1);
    CHECK(forward.largest == 2 * 3 * 8 * 9);  // the padded x
    const Stored both = stored_by(with_gradients(graph));
    CHECK(both.contractions == 3);
    CHECK(both.largest == 2 * 5 * 8 * 9);  // the padded gradient of y
}

TEST_CASE("what one convolution gives another lies among the zeros around it") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 3, 6, 7}), weight = input(graph, "w", {5, 3, 3, 3});
    Tensor next = input(graph, "v", {4, 5, 3, 3});
    output("y", conv2d(relu(conv2d(x, weight)), next, {.padding = 1}));
    const Graph plain = optimized(graph);
    const fuse::FusedGraph fused = fuse::fuse(plain, true);
    for (const fuse::Group& group : fused.groups) {
        if (group.form != fuse::Form::contract || plain[group.anchor].shape[1] == Dim(4)) continue;
        const fuse::Layout& place = fused.layouts[std::size_t(group.stored.at(0))];
        CHECK(plain[place.base].op == Op::concat);
        CHECK(plain[place.base].shape == Shape{2, 5, 6, 7});
        CHECK(place.offset == Dim(8));
    }
}

TEST_CASE("so is one with strides, dilation and groups") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 6, 12}), weight = input(graph, "w", {4, 3, 3});
    output("y", conv1d(x, weight, {.stride = 2, .dilation = 2, .groups = 2}));
    const Stored forward = stored_by(optimized(graph));
    CHECK(forward.contractions == 1);
    CHECK(forward.largest == 2 * 4 * 4);  // y
    const Stored both = stored_by(with_gradients(graph));
    CHECK(both.contractions == 3);
}

TEST_CASE("steps of an axis are read in place, too") {
    Graph graph;
    Tensor x = input(graph, "x", {4, 9});
    output("y", exp(slice(x, 1, 1, 4, 2)) + slice(x, 1, 0, 4, 2));
    const Graph plain = optimized(graph);
    const fuse::FusedGraph fused = fuse::fuse(plain, true);
    CHECK(fused.groups.size() == 1);
    CHECK(fused.groups[0].form == fuse::Form::rows);
}
