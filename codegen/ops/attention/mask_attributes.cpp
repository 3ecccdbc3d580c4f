#include "codegen/ops/attention/mask_attributes.h"

#include <fmt/format.h>

#include "codegen/graph/print.h"

namespace fovea::ops {

Mask mask_of(const Graph& graph, const Node& node, Tensor lens, Tensor allowed, Tensor segments) {
    return {.window = graph.attentions[std::size_t(node.attribute)].window,
            .lens = lens,
            .allowed = allowed,
            .segments = segments,
            .masked_rows = node.masked_rows};
}

namespace {

/// ` causal`, ` window=127,0`; `any` where it has no end.
std::string window_text(const KeyWindow& window) {
    if (!window.is_limited()) return "";
    if (window == kCausal) return " causal";
    const auto end = [](bool ends, std::int64_t keys) {
        return ends ? std::to_string(keys) : std::string("any");
    };
    return fmt::format(" window={},{}", end(window.ends_before(), window.before),
                       end(window.ends_after(), window.after));
}

}  // namespace

std::string mask_text(const Graph& graph, const Node& node) {
    const AttentionAttributes& attributes = graph.attentions[std::size_t(node.attribute)];
    std::string text;
    text += window_text(attributes.window);
    if (attributes.has_lens) text += " lens";
    if (attributes.has_allowed) text += " allowed";
    if (attributes.has_segments) text += " segments";
    if (node.masked_rows == MaskedRows::zero) text += " masked_rows=zero";
    if (attributes.score) text += fmt::format(" score=%{}", attributes.score);
    if (attributes.parts > 1) text += fmt::format(" parts={}", attributes.parts);
    if (attributes.dropout > 0)
        text +=
            fmt::format(" dropout={} site={}", number_text(attributes.dropout), attributes.site);
    return text;
}

std::optional<std::string> why_not_masked(const Graph& graph, int id) {
    const Node& node = graph[id];
    const AttentionAttributes& a = graph.attentions[std::size_t(node.attribute)];
    if (a.has_lens != (node.inputs[3] > 0) || a.has_allowed != (node.inputs[4] > 0) ||
        a.has_segments != (node.inputs[5] > 0))
        return "its mask is not among its inputs";
    return {};
}

}  // namespace fovea::ops
