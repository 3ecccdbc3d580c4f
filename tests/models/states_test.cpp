// States over several calls, stored in place: the values of the reference, which is handed what the
// call before it made.
#include "tests/models/run_everywhere.h"

#include "codegen/graph/scan_function.h"
#include "codegen/optimize/select_mode.h"
#include "runtime/threads.h"
#include "tools/fovea/verify/tensor_memory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr int kCalls = 4;
constexpr std::int64_t kStateRows = 3;

/// Running statistics, a count, and a state that reads itself and another.
Graph statistics() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 5, 7});
    Tensor y = batch_norm(s / "bn", x, 1, {.momentum = 0.25});
    Tensor seen = s.state("seen", {1}, Initial::ones);
    s.update(seen, seen + 1.0);
    s.output("y", y * seen);
    return graph;
}

/// A ring that is written at the position of an input, and read whole.
Graph ring() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 6}), position = s.input("position", {1}, i32);
    Tensor cache = (s / "block").cache("keys", {"batch", 3, 6});
    Tensor next = where(eq(iota(graph, {3, 1}, 0), position), unsqueeze(x, 1), cache);
    s.update(cache, next);
    s.output("y", sum(next * next, 1));
    return graph;
}

/// Two states that change places, a queue that moves up, and a value of both old and new.
Graph moving() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 4});
    Tensor a = s.cache("a", {"batch", 4}), b = s.cache("b", {"batch", 4});
    Tensor queue = s.cache("queue", {"batch", 5, 4});
    s.update(a, b + x);
    s.update(b, a);
    Tensor moved = concat(slice(queue, 1, 1, 4), unsqueeze(x, 1), 1);
    s.update(queue, moved);
    Tensor pair = sum(queue * moved, 1);
    s.output("y", pair + a);
    return graph;
}

/// Elements that change places within their own state, which no kernel may store before it has read
/// all of them.
Graph turning() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 6});
    Tensor flipped = s.cache("flipped", {"batch", 6}), halves = s.cache("halves", {"batch", 6});
    Tensor square = s.cache("square", {6, 6}), row = s.state("row", {6});
    s.update(flipped, flip(flipped, 1) + x);
    s.update(halves, concat(slice(halves, 1, 3, 3), slice(halves, 1, 0, 3) + slice(x, 1, 0, 3), 1));
    s.update(square, permute(square, {1, 0}) + slice(x, 0, 0, 1));
    s.update(row, softmax(flip(row, 0) + sum(x, 0)));
    s.output("y", x * flipped + halves + sum(square, 0) * row);
    return graph;
}

/// What products, sums, loops and look-ups make of states that they read.
Graph computed() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 4});
    Tensor hidden = s.cache("hidden", {"batch", 4}), weights = s.state("weights", {4, 4});
    Tensor table = s.state("table", {4, 4}), ids = s.cache("ids", {"batch"}, i32);
    Tensor any_above = s.cache("any_above", {"batch"}, boolean);
    const auto looped =
        scan(einsum("bi,io->ob", hidden, weights), sum(x, -1), [](Tensor v, Tensor last) {
            const Tensor next = tanh(v + last * 0.5);
            return Step{next, next};
        });
    s.update(hidden, permute(looped.value, {1, 0}) + x);
    s.update(weights, weights * 0.5 + einsum("bi,bo->io", x, hidden + 1.0) * 0.1);
    s.update(table, scatter_add(x, ids, 4) + gather(table, iota(graph, {4}, 0) * 0 + 1));
    s.update(ids, (ids + 1) % 4);
    s.update(any_above, sum(hidden, -1) > 0.5);
    s.output("y", gather(table, ids) + unsqueeze(where(any_above, looped.state, 0.25), 1));
    return graph;
}

/// A value for each call, of the shape that the graph says.
Array input_of(const Graph& graph, const std::string& name, int call) {
    if (name == "position") return array({1}, {double(call % 3)});
    for (const Node& node : graph.nodes) {
        if (node.op != Op::input || node.name != name) continue;
        std::vector<std::int64_t> shape;
        for (const Dim& dim : node.shape)
            shape.push_back(dim.is_static() ? dim.value() : kStateRows);
        return array_of(shape, [&](int i) { return ((i * 37 + call * 29) % 97) / 32.0 - 1.5; });
    }
    FAIL("no input ", name);
    return {};
}

/// What parameters and states start with.
Array start_of(const Node& node) {
    std::vector<std::int64_t> shape;
    for (const Dim& dim : node.shape) shape.push_back(dim.is_static() ? dim.value() : kStateRows);
    const double value = node.op == Op::parameter && node.initial == Initial::ones;
    return array_of(shape, [&](int) { return value; });
}

std::vector<Arrays> expected_calls(const Graph& graph, bool training) {
    Interpreter interpreter(select_mode(seal_scans(graph), training));
    for (const Node& node : graph.nodes)
        if (node.op == Op::parameter || (node.op == Op::input && node.state))
            interpreter.set(node.op == Op::input ? std::string(node.name) : graph.path(node.scope),
                            start_of(node));
    std::vector<Arrays> calls;
    for (int call = 0; call < kCalls; ++call) {
        for (const Node& node : graph.nodes)
            if (node.op == Op::input && !node.state)
                interpreter.set(std::string(node.name),
                                input_of(graph, std::string(node.name), call));
        calls.push_back(interpreter.outputs());
        for (const auto& [name, value] : calls.back())
            if (interpreter.has(name)) interpreter.set(name, value);
    }
    return calls;
}

void check_calls(const runtime::Model& model, const runtime::Program& program, const Graph& graph,
                 const std::vector<Arrays>& expected) {
    runtime::Parameters parameters(model, {});
    parameters.initialize(1);
    runtime::Instance instance(model, program.name, parameters);
    instance.keep_states();
    instance.bind({{"batch", kStateRows}});
    for (int call = 0; call < kCalls; ++call) {
        CAPTURE(call);
        for (const runtime::TensorSpec& input : program.inputs) {
            if (input.state) continue;
            const Array value = input_of(graph, input.name, call);
            if (input.dtype == runtime::DType::i32)
                std::copy(value.values.begin(), value.values.end(),
                          instance.input<std::int32_t>(input.name));
            else
                std::copy(value.values.begin(), value.values.end(),
                          instance.input<float>(input.name));
        }
        instance.run();
        for (const runtime::TensorSpec& output : program.outputs) {
            CAPTURE(output.name);
            const Array& right = expected[std::size_t(call)].at(output.name);
            check_close({instance.shape_of(output),
                         tool::read_tensor(instance.output<void>(output.name),
                                           DType(int(output.dtype)), right.values.size())},
                        right, 1e-4);
        }
    }
}

void check_states(const std::string& name, const Graph& graph) {
    CAPTURE(name);
    std::vector<ProgramRequest> requests;
    for (bool training : {false, true})
        for (bool fusion : {true, false})
            requests.push_back({.name = std::string(training ? "training" : "forward") +
                                        (fusion ? "" : "_unfused"),
                                .graph = graph,
                                .training = training,
                                .fusion = fusion});
    const CompiledModel compiled = compile_model(name, "", {}, requests);
    const runtime::Model& model =
        tool::load_generated(compiled.plan, tool::isa_of_this_machine(), tool::Keep::nowhere);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        CAPTURE(requests[i].name);
        const auto expected = expected_calls(graph, requests[i].training);
        for (std::int64_t threads : {1, 3}) {
            runtime::set_threads(threads);
            check_calls(model, model.programs[i], graph, expected);
        }
    }
    runtime::set_threads(runtime::processor_count());
}

}  // namespace

TEST_CASE("running statistics of a norm, and a count") { check_states("statistics", statistics()); }

TEST_CASE("a ring of rows") { check_states("ring", ring()); }

TEST_CASE("states that read each other, and themselves at other places") {
    check_states("moving", moving());
}

TEST_CASE("elements that change places within a state") { check_states("turning", turning()); }

TEST_CASE("states of every type that all kinds of kernels read and make") {
    check_states("computed", computed());
}
