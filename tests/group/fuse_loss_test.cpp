// Losses without logits: values and gradients as those of the plain ops, and what is refused.
#include "codegen/group/fuse_loss.h"

#include <fovea.h>

#include "codegen/graph/same_node.h"
#include "codegen/ops/losses/linear_cross_entropy.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct WithoutLogits {
    Graph graph;
    Notes notes;
};
WithoutLogits without_logits(const Graph& graph) {
    WithoutLogits result;
    const auto always = [](int, const LossProduct&) { return std::optional<std::string>(); };
    result.graph = fuse_loss(graph, always, result.notes);
    return result;
}

Arrays loss_arrays() {
    return {{"x", random_array({2, 3, 4}, 1, -3, 3)},
            {"rows", random_array({6, 4}, 1, -3, 3)},
            {"row", random_array({4}, 2)},
            {"w", random_array({5, 4}, 3)},
            {"v", random_array({4, 5}, 4)},
            {"b", random_array({5}, 5)},
            {"labels", {{2, 3}, {4, 0, 2, 1, 3, 1}}},
            {"flat", {{6}, {4, 0, 2, 1, 3, 1}}},
            {"one", {{}, {3}}},
            {"lens", {{2}, {2, 3}}}};
}

/// The loss of a model in a few lines, of what it is given.
struct LossParts {
    Tensor x, rows, row, w, v, b, labels, flat, one, lens;
};
template <class Loss>
Graph loss_graph(Loss&& loss) {
    Graph graph;
    const auto given = loss_arrays();
    const auto make = [&](const char* name, DType type = f32) {
        return input(graph, name, given.at(name).shape, type);
    };
    LossParts p{make("x"),        make("rows"),     make("row"),         make("w"),
                make("v"),        make("b"),        make("labels", i32), make("flat", i32),
                make("one", i32), make("lens", i32)};
    output("y", loss(p));
    return graph;
}

/// The loss fuses, once, and is what it was, its gradients included.
template <class Loss>
void check_without_logits(Loss&& loss) {
    const Graph plain = loss_graph(loss);
    const WithoutLogits result = without_logits(plain);
    for (const std::string& note : result.notes) MESSAGE(note);
    REQUIRE(result.notes.empty());
    const Graph left = dead_code(result.graph);
    CHECK(count(left, Op::linear_cross_entropy) == 1);
    CHECK(count(left, Op::einsum) == 0);
    check_close(run(result.graph, loss_arrays()), run(plain, loss_arrays()));
    check_gradients(result.graph, loss_arrays(), {}, 1e-6);
}
template <class Loss>
std::string why_logits(Loss&& loss) {
    const WithoutLogits result = without_logits(loss_graph(loss));
    CHECK(count(result.graph, Op::linear_cross_entropy) == 0);
    REQUIRE(result.notes.size() == 1);
    const std::size_t at = result.notes[0].find(": logits are stored: ");
    REQUIRE(at != std::string::npos);
    return result.notes[0].substr(at + std::string(": logits are stored: ").size());
}

Graph with_cotangent(const Graph& graph) {
    return add_gradients(graph, {.from_loss = false, .of_inputs = true});
}

}  // namespace

TEST_CASE("every cross entropy of a product does without its logits") {
    check_without_logits(
        [](const LossParts& p) { return cross_entropy(linear(p.x, p.w), p.labels); });
    check_without_logits(
        [](const LossParts& p) { return cross_entropy(linear(p.x, p.w, p.b), p.labels); });
    check_without_logits(
        [](const LossParts& p) { return cross_entropy(linear(p.rows, p.w, p.b), p.flat); });
    check_without_logits(
        [](const LossParts& p) { return cross_entropy(linear(p.row, p.w, p.b), p.one); });
    check_without_logits(
        [](const LossParts& p) { return cross_entropy(linear(p.x, p.w, p.b), p.labels, p.lens); });
    check_without_logits([](const LossParts& p) {
        return cross_entropy(linear(p.x, p.w), p.labels, {.ignored = 1, .label_smoothing = 0.2});
    });
    check_without_logits([](const LossParts& p) {
        return cross_entropy(linear(p.x, p.w), p.labels, {.ignored = 0, .mean = false});
    });
    for (const double smoothing : {0.0, 0.1})
        check_without_logits([&](const LossParts& p) {
            return smoothed_cross_entropy(linear(p.x, p.w, p.b), p.labels, 1, smoothing);
        });
}

TEST_CASE("however the product is written") {
    check_without_logits([](const LossParts& p) {
        return cross_entropy(einsum("b t h, h v -> b t v", p.x, p.v), p.labels);
    });
    check_without_logits([](const LossParts& p) {
        return cross_entropy(p.b + einsum("v h, b t h -> b t v", p.w, p.x), p.labels);
    });
    check_without_logits([](const LossParts& p) {
        return cross_entropy(flatten(linear(p.x, p.w), 0, 1) + p.b, p.flat);
    });
    check_without_logits([](const LossParts& p) {
        return cross_entropy(rearrange(linear(p.rows, p.w), "(b t) v -> b t v", {"b", 2}),
                             p.labels);
    });
}

TEST_CASE("logits may be scaled and capped") {
    const double cap = 1.5;
    check_without_logits([&](const LossParts& p) {
        return cross_entropy(tanh(linear(p.x, p.w) / cap) * cap, p.labels);
    });
    check_without_logits([&](const LossParts& p) {
        return cross_entropy(cap * tanh(linear(p.x, p.w, p.b) * 0.5 / cap), p.labels);
    });
    check_without_logits(
        [](const LossParts& p) { return cross_entropy(tanh(linear(p.x, p.w)), p.labels); });
    check_without_logits([](const LossParts& p) {
        return smoothed_cross_entropy(linear(p.x, p.w, p.b) * -0.25, p.labels, 1, 0.1);
    });
    check_without_logits([&](const LossParts& p) {
        return cross_entropy(2.0 * (cap * tanh(linear(p.x, p.w))), p.labels,
                             {.label_smoothing = 0.1});
    });
}

TEST_CASE("losses of the same product by other curves are two") {
    const Graph plain = loss_graph([](const LossParts& p) {
        Tensor y = cross_entropy(linear(p.x, p.w), p.labels);
        return y + cross_entropy(linear(p.x, p.w) * 2.0, p.labels) +
               cross_entropy(tanh(linear(p.x, p.w)) * 2.0, p.labels);
    });
    const WithoutLogits result = without_logits(plain);
    CHECK(result.notes.empty());
    const Graph one_of_each = common_subexpressions(dead_code(result.graph));
    CHECK(count(one_of_each, Op::linear_cross_entropy) == 3);
    check_close(run(one_of_each, loss_arrays()), run(plain, loss_arrays()));
    Notes notes;
    const Graph joined = join_losses(with_cotangent(result.graph), notes);
    Arrays given = loss_arrays();
    given["y.grad"] = {{}, {0.7}};
    const Graph apart = with_cotangent(plain);
    for (const char* name : {"y", "x.grad", "w.grad"})
        check_close(run(joined, given, name), run(apart, given, name));
}

TEST_CASE("logits that are needed are stored, and why is said") {
    CHECK(why_logits([](const LossParts& p) {
              Tensor logits = linear(p.x, p.w);
              output("logits", logits);
              return cross_entropy(logits, p.labels);
          }) == "its logits are an output, logits");
    CHECK(why_logits([](const LossParts& p) {
              Tensor logits = linear(p.x, p.w);
              return cross_entropy(logits, p.labels) + sum(sum(sum(square(logits), 0), 0), 0);
          }) == "its logits are read by mul, too");
    CHECK(why_logits([](const LossParts& p) { return cross_entropy(p.x, p.labels); }) ==
          "its logits come from input, not from a product");
    CHECK(why_logits([](const LossParts& p) {
              return cross_entropy(exp(linear(p.x, p.w)), p.labels);
          }) == "its logits come from exp, not from a product");
    CHECK(why_logits([](const LossParts& p) {
              return cross_entropy(linear(p.x, p.w) + p.b + p.b, p.labels);
          }) == "its logits come from add, not from a product");
    CHECK(why_logits([](const LossParts& p) {
              return cross_entropy(tanh(tanh(linear(p.x, p.w))), p.labels);
          }) == "its logits come from tanh, not from a product");
    CHECK(why_logits([](const LossParts& p) {
              return cross_entropy(tanh(linear(p.x, p.w)) + p.b, p.labels);
          }) == "its logits come from tanh, not from a product");
    CHECK(why_logits([](const LossParts& p) {
              return cross_entropy(linear(p.x, p.w) * p.b, p.labels);
          }) == "its logits come from mul, not from a product");
    CHECK(why_logits([](const LossParts& p) {
              return cross_entropy(linear(p.x, p.w) / 0.0, p.labels);
          }) == "its logits come from div, not from a product");
    CHECK(why_logits([](const LossParts& p) {
              Tensor swapped = einsum("b t h, v h -> t b v", p.x, p.w);
              return cross_entropy(swapped, rearrange(p.labels, "b t -> t b"));
          }) == "the axes of its logits are in another order than those of the product's operand");
    CHECK(why_logits([](const LossParts& p) {
              return cross_entropy(einsum("b t h, b v h -> b t v", p.x, p.x), p.labels);
          }) ==
          "its logits come from a product of other shapes than [..., width] and [classes, width]");
    const auto sliced = [](const LossParts& p, int classes, int width) {
        Tensor weight = slice(slice(p.w, 0, 0, classes), 1, 0, width);
        Tensor labels = minimum(p.labels, classes - 1);
        return cross_entropy(linear(slice(p.x, 2, 0, width), weight), labels);
    };
    CHECK(why_logits([&](const LossParts& p) { return sliced(p, 1, 4); }) == "there is one class");
    CHECK(why_logits([&](const LossParts& p) { return sliced(p, 5, 1); }) ==
          "its product is of single numbers");
}

TEST_CASE("what nobody reads does not keep the logits") {
    check_without_logits([](const LossParts& p) {
        Tensor logits = linear(p.x, p.w);
        argmax(logits, -1);
        return cross_entropy(logits, p.labels);
    });
}

TEST_CASE("a choice against it is a reason, too") {
    Notes notes;
    const Graph graph = loss_graph(
        [](const LossParts& p) { return cross_entropy(linear(p.x, p.w, p.b), p.labels); });
    LossProduct product;
    const Graph kept = fuse_loss(
        graph,
        [&](int, const LossProduct& found) {
            product = found;
            return std::optional<std::string>("there are five");
        },
        notes);
    CHECK(count(kept, Op::linear_cross_entropy) == 0);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].ends_with(": logits are stored: there are five"));
    CHECK(product.rows == Dim(6));
    CHECK(product.classes == Dim(5));
    CHECK(product.width == Dim(4));
    CHECK(product.bias > 0);
}

TEST_CASE("one sweep gives the terms and all gradients") {
    const Graph plain = loss_graph(
        [](const LossParts& p) { return cross_entropy(linear(p.x, p.w, p.b), p.labels); });
    Notes notes;
    const Graph joined = join_losses(with_cotangent(without_logits(plain).graph), notes);
    CHECK(notes.empty());
    int first = 0;
    for (int id = 1; id < int(joined.nodes.size()); ++id) {
        if (joined[id].op != Op::linear_cross_entropy) continue;
        if (!first) first = id;
        CHECK(is_same_loss(joined, first, id));
        CHECK(loss_input(joined[id], LossInput::cotangent) > 0);
    }
    CHECK(count(joined, Op::linear_cross_entropy) == 4);
    Arrays given = loss_arrays();
    given["y.grad"] = {{}, {0.7}};
    const Graph apart = with_cotangent(plain);
    for (const char* name : {"y", "x.grad", "w.grad", "b.grad"})
        check_close(run(joined, given, name), run(apart, given, name));
}

TEST_CASE("terms that their own gradient depends on come from another sweep") {
    const Graph plain = loss_graph([](const LossParts& p) {
        return square(cross_entropy(linear(p.x, p.w), p.labels, {.mean = false}));
    });
    Notes notes;
    const Graph joined = join_losses(with_cotangent(without_logits(plain).graph), notes);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].find("logits are made twice") != std::string::npos);
    Arrays given = loss_arrays();
    given["y.grad"] = random_array({2, 3}, 9);
    const Graph apart = with_cotangent(plain);
    for (const char* name : {"y", "x.grad", "w.grad"})
        check_close(run(joined, given, name), run(apart, given, name));
}
