// Runs the ops that new_op_test.cpp adds, with their gradients; prints what is wrong.
#include <fovea.h>

#include <cmath>
#include <cstdio>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/graph/print.h"
#include "codegen/graph/verify_graph.h"
#include "codegen/reference/interpreter.h"

namespace {

int wrong = 0;

void check_value(const char* what, double is, double expected) {
    if (std::fabs(is - expected) < 1e-12) return;
    std::printf("%s is %.17g, not %.17g\n", what, is, expected);
    wrong = 1;
}

}  // namespace

int main() {
    using namespace fovea;
    Graph graph;
    Scope s{&graph};
    const Tensor x = s.input("x", {3});
    s.output("y", log_softmax(expm1(x) + ramp(graph, 3, 0.5)));
    const Graph whole = add_gradients(graph, {.from_loss = false, .of_inputs = true});
    verify_graph(graph);
    verify_graph(whole);
    if (print(graph).find("ramp 0.5 : f32 [3]") == std::string::npos)
        std::printf("%s", print(graph).c_str());

    const double at[3] = {0.1, -0.4, 0.7};
    double inner[3], total = 0;
    for (int i = 0; i < 3; ++i) total += std::exp(inner[i] = std::expm1(at[i]) + i * 0.5);
    Interpreter interpreter(whole);
    interpreter.set("x", {{3}, {at[0], at[1], at[2]}});
    interpreter.set("y.grad", {{3}, {1, 0, 0}});
    for (std::size_t i = 0; i < 3; ++i) {
        check_value("y", interpreter.output("y").values[i], inner[i] - std::log(total));
        const double gradient = (i == 0) - std::exp(inner[i]) / total;
        check_value("x.grad", interpreter.output("x.grad").values[i], gradient * std::exp(at[i]));
    }
    return wrong;
}
