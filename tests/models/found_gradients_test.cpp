// Small models whose gradients once were none, or stood beside their memory: against the reference,
// fused and unfused, on the CPU and on PTX.
#include "codegen/emit/nvptx/emit_ptx.h"
#include "tests/models/run_everywhere.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Keys that are not as wide as queries.
void narrow_keys(Scope s) {
    Tensor q = s.input("q", {2, 4, 5, 8}), k = s.input("k", {2, 2, 7, 6});
    s.output("y", attention(q, k, k, [](Pair p) { return sum(tanh(p.q), 0) * sum(p.k, 0); }));
}
void wide_keys(Scope s) {
    Tensor q = s.input("q", {2, 9, 3}), k = s.input("k", {2, 9, 11}), v = s.input("v", {2, 9, 4});
    Tensor w = s.parameter("w", {3, 11});
    const auto score = [&](Pair p) { return dot(einsum("i,ij->j", p.q, w), p.k); };
    s.output("y", attention(q, k, v, score, causal));
}
void keys_of_one_number(Scope s) {
    Tensor q = s.input("q", {2, 5, 6}), k = s.input("k", {2, 7, 1});
    const auto score = [](Pair p) { return sum(tanh(p.q) * p.k, 0); };
    s.output("y", attention(q, k, k, score, window(2, 1)));
}
/// Gradients that sum over two axes, of which one factor has one alone.
void sums_of_one_factor(Scope s) {
    Tensor x = s.input("x", {3, 4, 1, 6}), k = s.input("k", {3, 1, 5, 1});
    s.output("y", sum(tanh(x) * k, 3));
}

struct Found {
    const char* name;
    void (*model)(Scope);
};
constexpr Found kFound[] = {{"narrow_keys", narrow_keys},
                            {"wide_keys", wide_keys},
                            {"keys_of_one_number", keys_of_one_number},
                            {"sums_of_one_factor", sums_of_one_factor}};

Arrays drawn_for(const Graph& graph) {
    Arrays given;
    int shift = 0;
    for (const Node& node : graph.nodes) {
        std::string name(node.name);
        if (node.op == Op::parameter) name = graph.path(node.scope);
        else if (node.op == Op::output) name += ".grad";
        else if (node.op != Op::input) continue;
        std::vector<std::int64_t> shape;
        for (const Dim& dim : node.shape) shape.push_back(dim.value());
        given[name] = array_of(
            shape, [at = ++shift](int i) { return ((i * 37 + at * 29) % 97) / 64.0 - 0.75; });
    }
    return given;
}

void check_all(const Arrays& actual, const Arrays& expected, double tolerance) {
    CHECK(actual.size() == expected.size());
    for (const auto& [name, value] : expected) {
        CAPTURE(name);
        check_close(actual.at(name), value, tolerance);
    }
}

}  // namespace

TEST_CASE("gradients of found models are the reference's") {
    for (const Found& found : kFound) {
        CAPTURE(found.name);
        Graph graph;
        found.model(Scope{&graph});
        const Arrays given = drawn_for(graph), expected = run_reference(graph, true, given);
        CHECK(expected.size() > 2);
        run_everywhere(found.name, graph, true, given, [&](Arrays& outputs, double tolerance) {
            check_all(outputs, expected, tolerance);
        });
        if (emit::why_not_ptx()) continue;
        const ProgramRequest request{
            .name = "gradient", .graph = graph, .gradients = Gradients::of_parameters_and_inputs};
        const auto model = tool::model_on({"ptx-interpreter", "sm_80"},
                                          compile_model(found.name, "", {}, {request}).plan, f32);
        check_all(run_generated(*model, model->programs[0], given), expected, 1e-5);
    }
}
