// scan: its values against a loop written out, its gradients against finite differences.
#include "codegen/ops/scan.h"

#include "codegen/graph/scan_function.h"
#include "codegen/ops/attention/attention.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/dropout.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/reduction.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct State {
    Tensor h, c;
};

/// Four gates of one product, PyTorch's order.
State lstm_step(Tensor x, State before, Tensor w, Tensor u, std::int64_t width) {
    Tensor gates =
        linear_product(x, w, Location::here()) + linear_product(before.h, u, Location::here());
    auto gate = [&](int k) { return slice(gates, -1, k * width, width); };
    Tensor c = sigmoid(gate(1)) * before.c + sigmoid(gate(0)) * tanh(gate(2));
    return {sigmoid(gate(3)) * tanh(c), c};
}

struct Lstm {
    std::int64_t steps, batch = 2, width = 3;
    bool reverse = false;

    Arrays arrays() const {
        return {{"x", random_array({steps, batch, 4}, 1)},
                {"h", random_array({batch, width}, 2)},
                {"c", random_array({batch, width}, 3)},
                {"w", random_array({4 * width, 4}, 4)},
                {"u", random_array({4 * width, width}, 5)}};
    }
    State start(Graph& graph) const {
        return {input(graph, "h", {batch, width}), input(graph, "c", {batch, width})};
    }
    Tensor w(Graph& graph) const { return input(graph, "w", {4 * width, 4}); }
    Tensor u(Graph& graph) const { return input(graph, "u", {4 * width, width}); }

    /// All hidden states, and the last cell state behind them: [steps + 1, batch, width].
    Graph looped() const {
        Graph graph;
        Tensor x = input(graph, "x", {steps, batch, 4});
        State state = start(graph);
        Tensor input_weight = w(graph), state_weight = u(graph);
        auto y = scan(x, state,
                      [&](Tensor x_t, State before) {
                          State next = lstm_step(x_t, before, input_weight, state_weight, width);
                          return Step{next.h, next};
                      },
                      {.reverse = reverse});
        output("y", concat(y.value, unsqueeze(y.state.c, 0), 0));
        return seal_scans(graph);
    }
    Graph unrolled() const {
        Graph graph;
        Tensor x = input(graph, "x", {steps, batch, 4});
        State state = start(graph);
        Tensor input_weight = w(graph), state_weight = u(graph), all;
        for (std::int64_t n = 0; n < steps; ++n) {
            std::int64_t t = reverse ? steps - 1 - n : n;
            state =
                lstm_step(squeeze(slice(x, 0, t, 1), 0), state, input_weight, state_weight, width);
            Tensor h = unsqueeze(state.h, 0);
            all = !all.exists() ? h : reverse ? concat(h, all, 0) : concat(all, h, 0);
        }
        Tensor c = unsqueeze(state.c, 0);
        output("y", all.exists() ? concat(all, c, 0) : c);
        return graph;
    }
};

}  // namespace

TEST_CASE("a loop over steps is what its steps, written out, are") {
    for (bool reverse : {false, true})
        for (std::int64_t steps : {0, 1, 2, 5}) {
            Lstm lstm{.steps = steps, .reverse = reverse};
            check_close(run(lstm.looped(), lstm.arrays()), run(lstm.unrolled(), lstm.arrays()));
        }
}

TEST_CASE("gradients through steps, states, and what steps read from outside") {
    for (bool reverse : {false, true})
        for (std::int64_t steps : {0, 1, 3}) {
            INFO("steps ", steps);
            Lstm lstm{.steps = steps, .reverse = reverse};
            check_gradients(lstm.looped(), lstm.arrays());
        }
}

TEST_CASE("products and gates of a step are stored for the backward pass, and computed once") {
    Lstm lstm{.steps = 3};
    Graph graph = add_gradients(lstm.looped(), {.from_loss = false, .of_inputs = true});
    std::vector<const ScanFunction*> functions;
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        if (is_scan(graph, id) &&
            (functions.empty() || functions.back() != scan_of(graph, id).function))
            functions.push_back(scan_of(graph, id).function);
    REQUIRE(functions.size() >= 2);
    CHECK(count(functions.front()->step, Op::einsum) == 2);
    CHECK(functions.front()->results == 6);  // the hidden state, four gates, and tanh of c
    const ScanFunction& backward = *functions.back();
    CHECK(backward.reverse);
    CHECK(count(backward.step, Op::einsum) == 4);  // two of weights, two of what they are put to
}

TEST_CASE("a step may attend, draw, look up and hold another scan") {
    Graph graph;
    Tensor x = input(graph, "x", {3, 2, 4}), memory = input(graph, "m", {2, 5, 4}),
           table = input(graph, "t", {6, 4}), ids = input(graph, "ids", {3, 2}, i32),
           lens = input(graph, "lens", {2}, i32), start = input(graph, "s", {2, 4});
    struct Inputs {
        Tensor x, ids;
    };
    auto y = scan(Inputs{x, ids}, start, [&](Inputs in, Tensor state) {
        Tensor query = unsqueeze(state + gather(table, in.ids), 1);
        Tensor seen = squeeze(
            attention(query, memory, memory, dot_product, padding(lens), {.dropout = 0.3}), 1);
        Tensor mixed = dropout(tanh(seen + in.x), 0.4, Location::here());
        auto inner = scan(rearrange(mixed, "b c -> c b"), reduce(Reduction::sum, state, 2),
                          [&](Tensor column, Tensor total) {
                              Tensor next = total * 0.5 + unsqueeze(column, 1);
                              return Step{next, next};
                          });
        return Step{inner.state, mixed + inner.state};
    });
    output("y", concat(reduce(Reduction::sum, y.value, 1), broadcast(y.state, {1, 2, 4}), -1));
    Graph sealed = seal_scans(graph);
    Arrays arrays{{"x", random_array({3, 2, 4}, 1)}, {"m", random_array({2, 5, 4}, 2)},
                  {"t", random_array({6, 4}, 3)},    {"ids", {{3, 2}, {0, 5, 2, 2, 1, 0}}},
                  {"lens", {{2}, {0, 3}}},           {"s", random_array({2, 4}, 4)}};
    check_gradients(sealed, arrays);
    InterpreterOptions training{.training = true, .seed = 3, .step = 7};
    check_gradients(draw_ahead(expand_composites(sealed)), arrays, training);
    Array once = run(sealed, arrays, "y", training);
    check_close(run(sealed, arrays, "y", training), once);
    CHECK(difference(run(sealed, arrays), once) > 1e-3);
}

TEST_CASE("mistakes in a scan") {
    Graph graph;
    Tensor x = input(graph, "x", {3, 2}), other = input(graph, "z", {4, 2}),
           one = full(graph, {}, 1);
    struct Two {
        Tensor a, b;
    };
    auto keep_state = [](auto, Tensor state) { return Step{state, state}; };
    CHECK_THROWS_WITH_AS(scan(Two{x, other}, one, keep_state),
                         doctest::Contains("scan: its sequences have 3 and 4 steps"), UserError);
    CHECK_THROWS_WITH_AS(scan(one, one, keep_state),
                         doctest::Contains("scan: a sequence must be [steps, ...], got []"),
                         UserError);
    CHECK_THROWS_WITH_AS(
        scan(x, one, [](Tensor value, Tensor) { return Step{value, value}; }),
        doctest::Contains("scan: state 0 starts as f32 [], but a step returns f32 [2]"), UserError);
}

TEST_CASE("gradients go past states that have none: whole numbers and booleans") {
    Graph graph;
    Tensor x = input(graph, "x", {5}), g = input(graph, "g", {});
    Tensor count = input(graph, "count", {}, i32), flag = input(graph, "flag", {}, boolean);
    Tensor counted = scan(x, count, [](Tensor v, Tensor state) {
                         return Step{v * cast(state, f32), state + 1};
                     }).value;
    Tensor turned = scan(x, flag, [](Tensor v, Tensor state) {
                        return Step{where(state, v, -v), logical_not(state)};
                    }).value;
    Tensor both = scan(x, std::array{count, g}, [](Tensor v, std::array<Tensor, 2> states) {
                      return Step{v * cast(states[0], f32) * states[1],
                                  std::array{states[0] + 1, states[1] * v}};
                  }).value;
    output("y", counted + turned * 2.0 + both * 3.0);
    check_gradients(seal_scans(graph), {{"x", random_array({5}, 3)},
                                        {"g", random_array({}, 4)},
                                        {"count", {{}, {2}}},
                                        {"flag", {{}, {1}}}});
}
