#include "codegen/ops/ramp.h"

#include "codegen/ops/definitions.h"

namespace fovea::ops {

namespace {

void ramp_reference(const Evaluation& e, Array& result) {
    for (std::size_t i = 0; i < result.values.size(); ++i)
        result.values[i] = double(i) * e.node().value;
}
std::string ramp_text(const Graph&, const Node& node) { return "ramp " + number_text(node.value); }

}  // namespace

OpDef ramp_def() {
    return {.op = Op::ramp, .cost = Cost::none, .reference = ramp_reference, .text = ramp_text};
}

}  // namespace fovea::ops
