// Dropout: a product with random factors drawn from a counter.
#include "codegen/ops/dropout.h"

#include "codegen/ops/definitions.h"
#include "codegen/ops/elementwise.h"
#include "runtime/training/philox.h"

namespace fovea::ops {

namespace {

/// Row: the linear index of the leading axes; column: the index along the last.
void random_reference(const Evaluation& e, Array& result) {
    std::size_t columns = e.shape.empty() ? 1 : std::size_t(e.shape.back());
    double p = e.node().value;
    for (std::size_t i = 0; i < result.values.size(); ++i) {
        bool kept =
            runtime::dropout_keep(e.seed, e.step, std::uint32_t(e.node().site),
                                  std::uint32_t(i / columns), std::uint32_t(i % columns), p);
        result.values[i] = kept ? 1 / (1 - p) : 0;
    }
}

Tensor dropout_expand(const Expansion& e) {
    return detail::times_random(e.inputs[0], e.node().value, e.node().site);
}

void dropout_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, detail::times_random(dy, node.value, node.site));
}

Tensor dropout_derive(const Derivation& d) { return dropout(d.inputs[0], d.node.value); }

}  // namespace

OpDef random_def() {
    return {.op = Op::random,
            .cost = Cost::many,
            .draws = true,
            .reference = random_reference,
            .why_not_derivable = why_no_site,
            .text = site_text};
}
OpDef dropout_def() {
    return {.op = Op::dropout,
            .inputs = {1, 1},
            .gradient = dropout_gradient,
            .expand = dropout_expand,
            .axis = aligned_axis,
            .derive = dropout_derive,
            .why_not_derivable = why_no_site,
            .text = site_text};
}

}  // namespace fovea::ops
