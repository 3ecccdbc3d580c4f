// Fused attention: its gradient rule, and what it takes.
#include "codegen/ops/attention/fused_attention.h"

#include "codegen/ops/attention/grouped_heads.h"
#include "codegen/ops/attention/mask_attributes.h"
#include "codegen/ops/attention/plain_attention.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/reduction.h"

namespace fovea {

namespace {

int at(AttentionInput input) { return int(input); }

/// Copies of `node` that give something else.
class Results {
  public:
    Results(const Node& node, Tensor y, Tensor dy) : node_(node), graph_(*y.graph) {
        Shape rows{2};
        for (int i = 0; i + 1 < y.rank(); ++i) rows.push(y.shape()[i]);
        statistics_ = make_result(AttentionResult::statistics, rows, node_.inputs, 0);
        graph_[statistics_.id].backward = node.backward;  // the forward kernel gives them

        delta_ = sum(dy * y, -1);
    }

    Tensor gradient(AttentionResult result, const Shape& shape, Tensor dy, int number = 0) const {
        Inputs inputs = node_.inputs;
        inputs[std::size_t(at(AttentionInput::statistics))] = statistics_.id;
        inputs[std::size_t(at(AttentionInput::delta))] = delta_.id;

        inputs[std::size_t(at(AttentionInput::cotangent))] = dy.id;
        return make_result(result, shape, inputs, number);
    }

  private:
    Tensor make_result(AttentionResult result, const Shape& shape, const Inputs& inputs,
                       int number) const {
        Node copy = node_;
        copy.result = result;
        copy.shape = shape;
        copy.inputs = inputs;
        copy.axis = number;
        return make(graph_, copy);
    }

    const Node& node_;
    Graph& graph_;
    Tensor statistics_, delta_;
};

/// What the batch and the heads give, added up. A table by head is [heads, ...], also where the
/// only head has no axis.
Tensor total_of(Tensor parts, bool by_head, int pair_rank) {
    int leading = pair_rank - 2, bits = by_head ? 1 : (1 << leading) - 1;
    Tensor total = reduce(Reduction::sum, parts, bits);
    for (int i = by_head ? 0 : leading - 1; i >= 0; --i) total = squeeze(total, i);
    return by_head && leading == 1 ? unsqueeze(total, 0) : total;
}
/// The gradient of a table that has rows for more than these heads.
Tensor in_table(Tensor of_heads, const Dim& rows) {
    const Dim heads = of_heads.dim(0);
    if (heads == rows) return of_heads;
    return scatter_add(of_heads, iota(*of_heads.graph, {heads}, 0), rows.without_label());
}

void fused_attention_gradient(const Node& node, Tensor y, Tensor dy, GradientSink& sink) {
    Results results(node, y, dy);

    constexpr AttentionResult kResults[]{AttentionResult::query, AttentionResult::key,
                                         AttentionResult::value};
    for (int i = 0; i < 3; ++i) {
        if (!sink.wants(i)) continue;
        const Shape& shape = sink.input(i).shape();
        Shape of_heads = shape;  // each head of queries gives a part
        if (shape.rank() == 4) of_heads[1] = y.shape()[1];
        sink.add(i, sum_of_groups(results.gradient(kResults[i], of_heads, dy), shape[1]));
    }
    const ScoreFunction& function = *y.graph->attentions[std::size_t(node.attribute)].function;
    for (int n = 0; n < kMaxCaptures; ++n) {
        int i = at(AttentionInput::first_capture) + n;
        if (node.inputs[std::size_t(i)] < 0 || !sink.wants(i)) continue;
        CaptureGradient capture = capture_gradient(function, n);
        Shape shape;
        for (int axis = 0; axis < y.rank() - 2; ++axis) shape.push(y.shape()[axis]);
        for (const Dim& dim : capture.shape) shape.push(dim);
        Tensor parts = results.gradient(AttentionResult::capture, shape, dy, n);
        const Tensor total = total_of(parts, capture.by_head, y.rank());
        sink.add(i, capture.by_head ? in_table(total, sink.input(i).dim(0)) : total);
    }
}

bool is_head(const Graph& function, int id) {
    return function[id].op == Op::input && function[id].port.role == Role::head;
}

/// A table, or the rows of one head, is looked up by one number of the pair.
std::optional<std::string> why_not_looked_up(const Graph& function, const Node& node) {
    const Node* table = &function[node.inputs[0]];
    if (table->op == Op::gather && is_head(function, table->inputs[1]))
        table = &function[table->inputs[0]];
    if (function[node.inputs[1]].shape.rank() != 0)
        return "its score looks up several rows at once";
    if (table->op == Op::input && table->port.role == Role::capture) return {};
    return "its score looks up a table that is another one for every pair";
}

/// Of the gradient of a table, which is kept beside the tiles of pairs.
constexpr std::int64_t kMostRows = 512, kMostElements = 4096;

std::optional<std::string> why_not_scattered(const Graph& function, const Node& node) {
    if (function[node.inputs[1]].shape.rank() != 0)
        return "its score looks up several rows at once";
    if (is_head(function, node.inputs[1])) return {};
    if (!node.dim.is_static()) return "its score looks up a learned table of a size not known";
    std::int64_t elements = node.dim.value();
    if (elements > kMostRows)
        return "its score looks up a learned table of more than " + std::to_string(kMostRows) +
               " rows by something other than the head";
    for (int i = 1; i < node.shape.rank(); ++i)
        if (node.shape[i].is_static()) elements *= node.shape[i].value();
    if (elements > kMostElements)
        return "its score looks up a learned table of more than " + std::to_string(kMostElements) +
               " elements by something other than the head";
    return {};
}

/// Whether every op of the function can be computed for a tile of pairs.
std::optional<std::string> why_not_tiled(const Graph& function) {
    for (int id = 1; id < int(function.nodes.size()); ++id) {
        const Node& node = function[id];
        const Graph& graph = function;
        auto refuse = [&](const std::string& why) {
            return "its score uses " + std::string(row_of(node.op).name) + why;
        };
        for (const Dim& dim : node.shape)
            if (!dim.is_static() && node.op != Op::input && node.op != Op::output &&
                node.op != Op::scatter_add)
                return refuse(" of a size that is not known");
        switch (node.op) {
            case Op::input:
            case Op::output:
            case Op::constant:
            case Op::extent:
            case Op::elementwise:
            case Op::broadcast:
            case Op::stop_gradient: break;
            case Op::reduce:
                if (node.reduction != Reduction::sum) return refuse(" of a maximum");
                break;
            case Op::einsum: break;
            case Op::rearrange: {
                const RearrangeAxes& axes = graph.rearranges[std::size_t(node.attribute)];
                int larger = 0;
                for (int i = 0; i < axes.count; ++i) larger += !axes.axis[std::size_t(i)].is_one();
                if (larger > 1) return refuse(" of more than one axis");
                break;
            }
            case Op::gather:
                if (auto why = why_not_looked_up(graph, node)) return why;
                break;
            case Op::scatter_add:
                if (auto why = why_not_scattered(graph, node)) return why;
                break;
            default: return refuse("");
        }
    }
    return {};
}

}  // namespace

CaptureGradient capture_gradient(const ScoreFunction& function, int number) {
    const Graph& graph = function.gradient;
    int output = find_output(graph, Port{Role::capture, number, true});
    if (!output) throw InternalError("a score function has no gradient of a captured value");
    int node = graph[output].inputs[0];
    bool by_head = graph[node].op == Op::scatter_add && is_head(graph, graph[node].inputs[1]);
    if (by_head) node = graph[node].inputs[0];
    return {node, by_head, graph[node].shape};
}

bool marks_rows(const AttentionAttributes& a, MaskedRows masked_rows) {
    return masked_rows == MaskedRows::uniform && (a.has_allowed || (a.has_segments && a.has_lens));
}

Tensor fused_attention(const Graph& source, int id, Tensor q, Tensor k, Tensor v, const Mask& mask,
                       Tensor segment_ends, const std::vector<Tensor>& captures,
                       const ScoreFunction* function) {
    Graph& graph = *q.graph;
    const Node& attention = source[id];
    Node node = attention;
    node.op = Op::fused_attention;
    node.result = AttentionResult::output;
    node.inputs = inputs_of({q.id, k.id, v.id});
    for (int axis = 0; axis + 1 < q.rank(); ++axis) node.shape[axis] = q.dim(axis);
    const auto read = [&](AttentionInput which, Tensor x) {
        if (x.exists()) node.inputs[std::size_t(at(which))] = x.id;
    };
    read(AttentionInput::lens, mask.lens);
    read(AttentionInput::allowed, mask.allowed);
    read(AttentionInput::segment_starts, mask.segments);
    read(AttentionInput::segment_ends, segment_ends);
    for (std::size_t i = 0; i < captures.size(); ++i)
        node.inputs[std::size_t(at(AttentionInput::first_capture)) + i] = captures[i].id;
    AttentionAttributes attributes = source.attentions[std::size_t(attention.attribute)];
    attributes.region = attributes.score = 0;
    attributes.function = function;
    graph.attentions.push_back(attributes);
    node.attribute = int(graph.attentions.size()) - 1;
    return make(graph, node);
}

std::optional<std::string> why_not_fused_attention(const Graph& graph, int id,
                                                   const ScoreFunction& function) {
    const Node& node = graph[id];
    const Shape &q = graph[node.inputs[0]].shape, &v = graph[node.inputs[2]].shape;
    if (node.dtype != f32) return "its values are not float32";
    if (!q[-1].is_static() || !v[-1].is_static()) return "the width of its vectors is not known";
    if (graph[node.inputs[1]].shape[-2].is_one()) return "there is one key";
    int captures = 0;
    for (const Node& leaf : function.forward.nodes) {
        captures += leaf.op == Op::input && leaf.port.role == Role::capture;
        if (leaf.op == Op::input && leaf.shape.rank() > 2) return "it captures a large tensor";
    }
    if (captures > kMaxCaptures)
        return "its score captures more than " + std::to_string(kMaxCaptures) + " values";
    if (auto why = why_not_tiled(function.forward)) return why;
    return why_not_tiled(function.gradient);
}

namespace ops {

namespace {

std::string fused_attention_text(const Graph& graph, const Node& node) {
    constexpr std::string_view kResults[]{"output",       "statistics",     "query gradient",
                                          "key gradient", "value gradient", "capture gradient"};
    return fmt::format("fused_attention {}", kResults[std::size_t(node.result)]) +
           mask_text(graph, node);
}

}  // namespace

OpDef fused_attention_def() {
    return {.op = Op::fused_attention,
            .inputs = {3, int(kMaxInputs)},
            .attribute = Attribute::attention,
            .unique = true,
            .gradient = fused_attention_gradient,
            .expand = plain_attention,
            .why_not_derivable = why_not_masked,
            .text = fused_attention_text};
}

}  // namespace ops

}  // namespace fovea
