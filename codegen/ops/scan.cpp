// A loop over steps as an op: its inputs are those of its step. The interpreter runs the step, and
// its gradient is another scan (differentiate_scan).
#include "codegen/ops/scan.h"

#include "codegen/graph/scan_function.h"
#include "codegen/ops/definitions.h"

namespace fovea::ops {

namespace {

/// Its inputs and its shape are those of its step.
std::optional<std::string> why_no_scan(const Graph& graph, int id) {
    const Node& node = graph[id];
    const ScanAttributes& scan = graph.scans[std::size_t(node.attribute)];
    if (!scan.function) return {};
    const ScanFunction& function = *scan.function;
    const Graph& step = function.step;
    auto fits_input = [&](int i, Role role, int number, int skipped) {
        const int inside = find_input(step, {role, number});
        const int from = node.inputs[std::size_t(i)];
        const Shape& outside = graph[from].shape;
        if (!inside || outside.rank() != step[inside].shape.rank() + skipped) return false;
        for (int k = 0; k < step[inside].shape.rank(); ++k)
            if (!(step[inside].shape[k] == outside[k + skipped])) return false;
        return graph[from].dtype == step[inside].dtype;
    };
    for (int i = 0; i < function.inputs(); ++i) {
        const int from = node.inputs[std::size_t(i)];
        if (from <= 0) return "its step has more inputs";
        const bool sequence = i < function.sequences;
        const int state = i - function.sequences, capture = state - function.states;
        const bool fits = sequence      ? fits_input(i, Role::value, i, 1)
                          : capture < 0 ? fits_input(i, Role::state, state, 0)
                                        : fits_input(i, Role::capture, capture, 0);
        if (!fits) return "input " + std::to_string(i) + " is not what its step reads";
        if (sequence && !(graph[from].shape[0] == scan.steps)) return "a sequence has other steps";
    }
    if (node.axis < 0 || node.axis >= function.states + function.results)
        return "its step has no such result";
    return {};
}

std::string scan_text(const Graph& graph, const Node& node) {
    const ScanAttributes& scan = graph.scans[std::size_t(node.attribute)];
    std::string text = "scan steps=" + dim_text(scan.steps.without_label());
    if (scan.reverse) text += " reverse";
    if (!scan.function) return text + (node.axis == int(StepPart::state) ? " state" : " result");
    const int states = scan.function->states;
    return text + (node.axis < states ? fmt::format(" state {}", node.axis)
                                      : fmt::format(" result {}", node.axis - states));
}
std::string step_text(const Graph&, const Node& node) {
    return node.axis == int(StepPart::state) ? "step state" : "step value";
}

}  // namespace

OpDef step_def() {
    return {.op = Op::step,
            .inputs = {1, 1},
            .attribute = Attribute::scan,
            .unique = true,
            .text = step_text};
}
OpDef scan_def() {
    return {.op = Op::scan,
            .inputs = {1, int(kMaxInputs)},
            .attribute = Attribute::scan,
            .unique = true,
            .why_not_derivable = why_no_scan,
            .text = scan_text};
}

}  // namespace fovea::ops
