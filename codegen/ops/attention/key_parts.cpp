#include "codegen/ops/attention/key_parts.h"

#include <limits>

#include "codegen/ops/attention/fused_attention.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/reduction.h"
#include "codegen/ops/softmax.h"

namespace fovea {

Tensor keys_of_part(Tensor keys, int parts) {
    const double unit = kPartUnit, all = parts * unit;
    return (keys + (all - 1)) / all * unit;
}

namespace {

/// A result of each part, side by side as heads.
Tensor result_of_parts(const Node& whole, Graph& graph, AttentionResult result, const Shape& shape,
                       int attribute) {
    Node node = whole;
    node.result = result;
    node.shape = shape;
    node.attribute = attribute;
    return make(graph, node);
}

}  // namespace

Tensor attention_by_parts(const Node& whole, Graph& graph, int parts) {
    AttentionAttributes attributes = graph.attentions[std::size_t(whole.attribute)];
    attributes.parts = parts;
    graph.attentions.push_back(attributes);
    const int attribute = int(graph.attentions.size()) - 1;
    Shape shape = whole.shape;
    shape[1] = shape[1].without_label() * parts;
    const Tensor outputs = result_of_parts(whole, graph, AttentionResult::output, shape, attribute);
    const Tensor statistics = result_of_parts(whole, graph, AttentionResult::statistics,
                                              {2, shape[0], shape[1], shape[2]}, attribute);

    const auto row = [&](int which) {
        const Tensor one = squeeze(slice(statistics, 0, which, 1), 0);
        return rearrange(one, "b (h p) q -> b h q p", {"p", parts});
    };
    const Tensor sums = row(0) + row(1);
    Tensor weights = softmax(sums * kLn2);
    if (whole.masked_rows == MaskedRows::uniform) {
        // A row is NaN where it sees keys, and all their scores are -infinity.
        const Tensor some = amax(sums, -1, true) > kNoScore;
        weights = where(some, weights, std::numeric_limits<double>::quiet_NaN());
    }
    return einsum("b h q p, b h p q e -> b h q e", weights,
                  rearrange(outputs, "b (h p) q e -> b h p q e", {"p", parts}));
}

}  // namespace fovea
