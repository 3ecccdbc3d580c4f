// Fused attention's gradient rule, and its results as plain ops.
#include "codegen/ops/attention/fused_attention.h"

#include "codegen/ops/attention/attention.h"
#include "codegen/ops/attention/grouped_heads.h"
#include "codegen/ops/attention/mask_attributes.h"
#include "codegen/ops/attention/over_pairs.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/dropout.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/reduction.h"

namespace fovea {

namespace {

constexpr double kLog2e = 1.4426950408889634;

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

/// The results in plain ops: what the kernel is checked against.
class PlainAttention {
  public:
    explicit PlainAttention(const Expansion& e)
        : e_(e), node_(e.node()), attributes_(e.source.attentions[std::size_t(node_.attribute)]) {
        leaves_.query = input(AttentionInput::query);
        leaves_.key = of_every_head(AttentionInput::key);
        for (int i = at(AttentionInput::first_capture); i < int(kMaxInputs); ++i)
            if (node_.inputs[std::size_t(i)] >= 0)
                leaves_.captures.push_back(e.inputs[std::size_t(i)]);
    }

    Tensor result() {
        OverPairs over(attributes_.function->forward, e_.target, leaves_);
        pairs_ = over.pairs();
        Tensor scores = broadcast(over.output({Role::score}), pairs_);
        Mask mask = ops::mask_of(e_.source, node_, e_.inputs);
        kept_ = kept_keys(e_.target, pairs_, mask);
        if (kept_.exists()) scores = masked(scores);
        if (node_.result == AttentionResult::statistics) return statistics(scores);
        if (node_.result == AttentionResult::output)
            return weighted_sum(dropped(weights(scores, statistics(scores))),
                                of_every_head(AttentionInput::value));
        return gradient(scores);
    }

  private:
    Tensor input(AttentionInput which) const { return e_.inputs[std::size_t(at(which))]; }
    Tensor of_every_head(AttentionInput which) const {
        return repeat_heads(input(which), input(AttentionInput::query).dim(1));
    }

    /// Hidden scores are lowest; all those of a row that sees nothing are 0.
    Tensor masked(Tensor scores) {
        Tensor hidden = where(kept_, scores, -kSeesNone);
        return where(seen() > 0.5, hidden, 0.0);
    }
    /// 1 for rows that see a key, else 0: [batch, (heads,) queries, 1].
    Tensor seen() {
        Tensor one = full(e_.target, pairs_, 1, f32);
        return amax(where(kept_, one, 0.0), -1, true);
    }
    /// Whether the statistics mark rows that see no key, as the forward kernel's do.
    bool marks_rows() const { return fovea::marks_rows(attributes_, node_.masked_rows); }
    Tensor statistics(Tensor scores) {
        Tensor largest = amax(scores, -1, true);
        Tensor total = sum(exp(scores - largest), -1, true);
        Tensor first = largest * kLog2e;
        if (marks_rows()) first = where(seen() > 0.5, first, kSeesNone);
        Tensor second = log(total) * kLog2e;
        auto as_row = [](Tensor x) { return unsqueeze(squeeze(x, x.rank() - 1), 0); };
        first = as_row(first);
        return concat(first, as_row(second), 0);
    }
    /// Row `which` of the statistics, [batch, (heads,) queries, 1].
    static Tensor row(Tensor statistics, int which) {
        Tensor one = squeeze(slice(statistics, 0, which, 1), 0);
        return unsqueeze(one, one.rank());
    }
    Tensor weights(Tensor scores, Tensor statistics) {
        Tensor largest = row(statistics, 0);
        if (marks_rows()) largest = where(largest < kSeesNone, largest, 0.0);
        Tensor p = exp2(scores * kLog2e - largest);
        p = p * exp2(-row(statistics, 1));

        return kept_.exists() && node_.masked_rows == MaskedRows::zero ? where(kept_, p, 0.0) : p;
    }
    Tensor dropped(Tensor p) {
        if (attributes_.dropout <= 0) return p;
        return p * random(e_.target, pairs_, attributes_.dropout, attributes_.site);
    }
    /// Σ over keys (or, transposed, over queries) of p[.., q, k] x[.., k, e].
    Tensor weighted_sum(Tensor p, Tensor x, bool transposed = false) {
        EinsumAxes axes;
        int leading = p.rank() - 2, query = leading, key = leading + 1, width = leading + 2;
        for (EinsumAxes::List* list : {&axes.a, &axes.b, &axes.out})
            for (int i = 0; i < leading; ++i) list->push(i);
        axes.a.push(query), axes.a.push(key);
        axes.b.push(transposed ? query : key), axes.b.push(width);
        axes.out.push(transposed ? key : query), axes.out.push(width);
        return einsum(p, x, axes, node_.location);
    }
    Tensor gradient(Tensor scores) {
        Tensor dy = input(AttentionInput::cotangent), v = of_every_head(AttentionInput::value);
        Tensor p = weights(scores, input(AttentionInput::statistics));
        if (node_.result == AttentionResult::value) return weighted_sum(dropped(p), dy, true);
        auto order = FixedArray<signed char, Shape::kMaxRank>{0, 1, 2, 3};
        std::swap(order[std::size_t(v.rank() - 2)], order[std::size_t(v.rank() - 1)]);
        Tensor of_weights = dropped(weighted_sum(dy, permute(v, order)));
        Tensor delta = unsqueeze(input(AttentionInput::delta), dy.rank() - 1);

        Tensor of_scores = p * (of_weights - delta);
        leaves_.cotangent = kept_.exists() ? where(kept_, of_scores, 0.0) : of_scores;
        OverPairs over(attributes_.function->gradient, e_.target, leaves_);
        return summed(over);
    }
    /// What the pairs give, added up over the keys, the queries, or both.
    Tensor summed(OverPairs& over) {
        int query = pairs_.rank() - 2, key = query + 1;
        if (node_.result == AttentionResult::query)
            return sum(whole(over.output({Role::query, 0, true})), key);
        if (node_.result == AttentionResult::key)
            return sum(whole(over.output({Role::key, 0, true})), query);
        CaptureGradient capture = capture_gradient(*attributes_.function, node_.axis);
        return sum(sum(whole(over.value(capture.node)), key), query);
    }
    /// With the axes of the pairs at full size.
    Tensor whole(Tensor x) {
        Shape shape = x.shape();
        for (int i = 0; i < pairs_.rank(); ++i) shape[i] = pairs_[i];
        return broadcast(x, shape);
    }

    const Expansion& e_;
    const Node& node_;
    const AttentionAttributes& attributes_;
    PairLeaves leaves_;
    Shape pairs_;
    Tensor kept_;
};

Tensor fused_attention_expand(const Expansion& e) { return PlainAttention(e).result(); }

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
            .expand = fused_attention_expand,
            .why_not_derivable = why_not_masked,
            .text = fused_attention_text};
}

}  // namespace ops

}  // namespace fovea
