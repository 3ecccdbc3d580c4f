// Attention over lengths that are known while compiling, whose last tile holds one row: where
// threads have none, PTX reads nothing.
#include "codegen/emit/nvptx/emit_ptx.h"
#include "tests/models/run_everywhere.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;
using namespace fovea::test;

namespace {

void attend_to_all(Scope s, int length) {
    const Shape shape = {2, 3, length, 8};
    Tensor q = s.input("q", shape), k = s.input("k", shape), v = s.input("v", shape);
    s.output("seen", attention(q, k, v, dot_product));
}

}  // namespace

TEST_CASE("attention over a static length and its gradients in PTX are the reference's") {
    if (emit::why_not_ptx()) return;
    for (const int length : {1, 9, 17, 33}) {
        CAPTURE(length);
        Graph graph;
        attend_to_all(Scope{&graph}, length);
        const std::vector<std::int64_t> shape = {2, 3, length, 8};
        Arrays given;
        int shift = 0;
        for (const char* name : {"q", "k", "v", "seen.grad"})
            given[name] = array_of(
                shape, [at = ++shift](int i) { return ((i * 37 + at * 29) % 97) / 32.0 - 1.5; });
        const auto model =
            tool::model_on({"ptx-interpreter", "sm_80"},
                           compile_model("static_lengths", "", {},
                                         {{.name = "training",
                                           .graph = graph,
                                           .gradients = Gradients::of_parameters_and_inputs}})
                               .plan,
                           f32);
        const Arrays outputs = run_generated(*model, model->programs[0], given);
        for (const auto& [name, expected] : run_reference(graph, true, given)) {
            CAPTURE(name);
            check_close(outputs.at(name), expected, 1e-5);
        }
    }
}
