// A loss without logits: a loop over chunks of tokens. A chunk's logits are made by tiles of the
// vocabulary, [classes, tokens], so that weights are read as they lie; they give the terms, then
// become their own gradient in place; then each tile of the weights is read once more, for the
// gradients of x and of itself. These are sums over tiles and over chunks, in order.
#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/lower/chunk_loop.h"
#include "codegen/lower/loss_chunks.h"
#include "codegen/lower/lower_group.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/losses/linear_cross_entropy.h"
#include "codegen/ops/losses/loss_terms.h"
#include "codegen/ops/reduction.h"

namespace fovea::lower {

namespace {

/// A name of a size that no value of the graph has.
std::string fresh_dim(const Graph& graph, std::string name) {
    const auto is_taken = [&] {
        const Symbol symbol{std::string_view(name)};
        for (const Node& node : graph.nodes)
            for (const Dim& dim : node.shape)
                if (dim.holds(symbol)) return true;
        return false;
    };
    while (is_taken()) name += "_";
    return name;
}

std::vector<Dim> dims(std::initializer_list<Dim> sizes) {
    std::vector<Dim> result;
    for (const Dim& dim : sizes) result.push_back(dim.without_label());
    return result;
}

/// What a chunk computes, as it is written down: the nodes come from node `of`.
class ChunkGraph {
  public:
    ChunkGraph(const Graph& source, const Node& of) : node_(of) { graph_.scopes = source.scopes; }

    template <class Build>
    Graph run(Build&& build) {
        {
            Graph::From from(graph_, node_);
            build(*this);
        }
        return std::move(graph_);
    }
    Tensor input(const char* name, const Shape& shape, DType dtype = f32) {
        return fovea::make(graph_, {.op = Op::input, .dtype = dtype, .shape = shape, .name = name});
    }
    void output(const char* name, Tensor value) {
        fovea::make(graph_, {.op = Op::output,
                             .dtype = value.dtype(),
                             .shape = value.shape(),
                             .inputs = inputs_of({value.id}),
                             .name = name});
    }

  private:
    const Node& node_;
    Graph graph_;
};

/// Σ over label 2 of a [0, 2] and b [1, 2], or as the lists say.
Tensor product(Tensor a, std::pair<int, int> of_a, Tensor b, std::pair<int, int> of_b,
               std::pair<int, int> out) {
    EinsumAxes axes;
    axes.a.push(of_a.first), axes.a.push(of_a.second);
    axes.b.push(of_b.first), axes.b.push(of_b.second);
    axes.out.push(out.first), axes.out.push(out.second);
    return einsum(a, b, axes, Location{});
}

constexpr int kClass = 0, kToken = 1, kWidth = 2;

class LossLowering {
  public:
    LossLowering(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
                 Memories& memories)
        : graph_(graph),
          fused_(fused),
          group_(group),
          memories_(memories),
          node_(graph[group.anchor]),
          curve_(curve_of(graph, node_)),
          target_(memories.target().loss),
          classes_(shape_of(LossInput::weight)[0].without_label()),
          width_(shape_of(LossInput::weight)[1].without_label()),
          tokens_name_(fresh_dim(graph, "chunk")),
          tile_name_(fresh_dim(graph, "tile")),
          tokens_(std::string_view(tokens_name_)),
          tile_(std::string_view(tile_name_)),
          chunks_(memories, tokens_name_, loss_chunk_rows(classes_, target_),
                  shape_of(LossInput::x)[0]) {}

    LoweredKernel run() {
        x_ = {given(LossInput::x), tokens_each(width_)};
        labels_ = {given(LossInput::labels), tokens_each(1)};
        logits_ = {chunks_.scratch(group_.name + ".logits", f32, {classes_, tokens_}), Dim(0)};
        make_logits();
        make_terms();
        if (loss_input(node_, LossInput::cotangent) >= 0) {
            make_gradient_of_logits();
            make_gradients();
        }
        return chunks_.finish(group_.name, "cross entropy of x Wᵀ, a chunk of tokens at a time");
    }

  private:
    const Shape& shape_of(LossInput which) const { return graph_[loss_input(node_, which)].shape; }
    bool has_bias() const { return loss_input(node_, LossInput::bias) >= 0; }
    Dim tokens_each(const Dim& size) const {
        return Dim(loss_chunk_rows(classes_, target_)) * size;
    }
    Dim tiles_each(const Dim& size) const { return Dim(target_.tile) * size; }
    /// An input of the loss as an operand of the loop over chunks.
    int given(LossInput which) {
        const fuse::Layout& layout = fused_.layouts[std::size_t(loss_input(node_, which))];
        if (!(layout.offset == Dim(0)) || layout.base < 0)
            throw InternalError("lower: a loss reads a part of a value");
        return chunks_.operand(memories_.of(layout.base));
    }
    /// The memory of a result, or -1 where nobody reads it.
    int result(LossResult which) {
        for (int id : group_.nodes)
            if (loss_result(graph_[id]) == which &&
                std::ranges::find(group_.stored, id) != group_.stored.end())
                return chunks_.operand(memories_.of(fused_.layouts[std::size_t(id)].base));
        return -1;
    }
    ChunkLoop tiles() { return {memories_, tile_name_, target_.tile, classes_, &chunks_}; }
    template <class Build>
    Graph written(Build&& build) const {
        return ChunkGraph(graph_, node_).run(build);
    }

    /// The weights, the bias or a gradient of theirs, as a loop over tiles has it: its next rows.
    ChunkPlace in_tiles(ChunkLoop& tiles, const char* name, int operand, bool is_matrix) const {
        const std::vector<Dim> shape = is_matrix ? dims({classes_, width_}) : dims({classes_});
        return {tiles.operand(name, f32, shape, {operand, Dim(0)}),
                tiles_each(is_matrix ? width_ : Dim(1))};
    }
    ChunkPlace logits_in(ChunkLoop& tiles) const {
        return {tiles.operand("logits", f32, dims({classes_, tokens_}), logits_),
                tiles_each(tokens_)};
    }

    /// logits[class, token] = curve(Σ weight[class, ·] · x[token, ·] + bias[class])
    void make_logits() {
        const ChunkPlace across{
            chunks_.scratch(group_.name + ".x_transposed", f32, {width_, tokens_}), Dim(0)};
        chunks_.add("x_transposed", written([&](ChunkGraph& g) {
                        g.output("across", permute(g.input("x", {tokens_, width_}), {1, 0}));
                    }),
                    {{"x", x_}, {"across", across}});
        ChunkLoop tiles = this->tiles();
        ChunkPlaces places{
            {"weight", in_tiles(tiles, "weight", given(LossInput::weight), true)},
            {"x", {tiles.operand("x", f32, dims({width_, tokens_}), across), Dim(0)}},
            {"logits", logits_in(tiles)}};
        if (has_bias()) places["bias"] = in_tiles(tiles, "bias", given(LossInput::bias), false);
        tiles.add("product", written([&](ChunkGraph& g) {
                      Tensor weight = g.input("weight", {tile_, width_});
                      Tensor x = g.input("x", {width_, tokens_});
                      Tensor y =
                          product(weight, {kClass, kWidth}, x, {kWidth, kToken}, {kClass, kToken});
                      if (has_bias()) y = y + unsqueeze(g.input("bias", {tile_}), 1);
                      g.output("logits", on_curve(curve_, y));
                  }),
                  places);
        chunks_.add(tiles, "logits", "logits = W xᵀ, a tile of classes at a time");
    }

    ChunkPlace per_token(const char* name) {
        return {chunks_.scratch(group_.name + "." + name, f32, {tokens_}), Dim(0)};
    }
    Tensor is_label(ChunkGraph& g) const {
        Tensor labels = g.input("labels", {tokens_}, i32);
        Tensor numbers = iota(*labels.graph, {classes_, 1}, 0);
        return eq(numbers, unsqueeze(labels, 0));
    }
    /// What each other class than the label has of the target.
    Tensor rest(Graph& graph) const { return full(graph, {}, node_.value) / (classes_ + Dim(-1)); }

    /// The largest logit of each token, Σ exp(logit - largest), and the terms.
    void make_terms() {
        largest_ = per_token("largest"), total_ = per_token("total");
        ChunkPlaces places{
            {"logits", logits_}, {"labels", labels_}, {"largest", largest_}, {"total", total_}};
        const int terms = result(LossResult::terms);
        if (terms >= 0) places["terms"] = {terms, tokens_each(1)};
        chunks_.add("softmax", written([&](ChunkGraph& g) {
                        Tensor logits = g.input("logits", {classes_, tokens_});
                        Tensor largest = reduce(Reduction::max, logits, 1);
                        Tensor shifted = logits - largest;
                        Tensor total = reduce(Reduction::sum, exp(shifted), 1);
                        g.output("largest", squeeze(largest, 0));
                        g.output("total", squeeze(total, 0));
                        if (terms < 0) return;
                        Tensor is_label = this->is_label(g);
                        Tensor chosen = where(is_label, shifted, 0.0);
                        if (node_.value > 0)
                            chosen =
                                where(is_label, 1 - node_.value, rest(*logits.graph)) * shifted;
                        Tensor picked = reduce(Reduction::sum, chosen, 1);
                        g.output("terms", squeeze(log(total) - picked, 0));
                    }),
                    places);
    }

    /// (softmax - target) times what is given for the terms, and times the slope of the curve, in
    /// the place of the logits.
    void make_gradient_of_logits() {
        const ChunkPlace given_for_terms{given(LossInput::cotangent), tokens_each(1)};
        chunks_.add("gradient_of_logits", written([&](ChunkGraph& g) {
                        Tensor logits = g.input("logits", {classes_, tokens_});
                        Tensor largest = unsqueeze(g.input("largest", {tokens_}), 0);
                        Tensor total = unsqueeze(g.input("total", {tokens_}), 0);
                        Tensor given = unsqueeze(g.input("given", {tokens_}), 0);
                        Tensor factor = given / total;
                        Tensor is_label = this->is_label(g);
                        Tensor target = where(is_label, given, 0.0);
                        if (node_.value > 0) {
                            Tensor of_label = given * (1 - node_.value);
                            target = where(is_label, of_label, given * rest(*given.graph));
                        }
                        Tensor of_logits = exp(logits - largest) * factor - target;
                        g.output("gradient", through_curve(curve_, of_logits, logits));
                    }),
                    {{"logits", logits_},
                     {"labels", labels_},
                     {"largest", largest_},
                     {"total", total_},
                     {"given", given_for_terms},
                     {"gradient", logits_}});
    }

    /// Those of x, the weights and the bias: each tile of classes adds to the first, each chunk of
    /// tokens to the others.
    void make_gradients() {
        const int of_x = result(LossResult::x), of_weight = result(LossResult::weight),
                  of_bias = result(LossResult::bias);
        ChunkLoop tiles = this->tiles();
        ChunkPlaces places{{"of_logits", logits_in(tiles)}};
        if (of_x >= 0) {
            places["weight"] = in_tiles(tiles, "weight", given(LossInput::weight), true);
            places["of_x"] = {
                tiles.operand("of_x", f32, dims({tokens_, width_}), {of_x, tokens_each(width_)}),
                Dim(0)};
            tiles.clear(places["of_x"].operand, tokens_ * width_);
        }
        if (of_weight >= 0) {
            places["x"] = {tiles.operand("x", f32, dims({tokens_, width_}), x_), Dim(0)};
            places["of_weight"] = in_tiles(tiles, "of_weight", of_weight, true);
            chunks_.clear(of_weight, classes_ * width_);
        }
        if (of_bias >= 0) {
            places["of_bias"] = in_tiles(tiles, "of_bias", of_bias, false);
            chunks_.clear(of_bias, classes_);
        }
        for (const char* sum : {"of_x", "of_weight", "of_bias"})
            if (places.contains(sum)) places[std::string(sum) + "_before"] = places[sum];
        tiles.add("products", written([&](ChunkGraph& g) {
                      const Tensor of_logits = g.input("of_logits", {tile_, tokens_});
                      if (of_x >= 0) add_of_x(g, of_logits);
                      if (of_weight >= 0) add_of_weight(g, of_logits);
                      if (of_bias >= 0) add_of_bias(g, of_logits);
                  }),
                  places);
        chunks_.add(tiles, "gradients", "x and W from the gradient of the logits, by tiles");
    }
    void add_of_x(ChunkGraph& g, Tensor of_logits) const {
        Tensor before = g.input("of_x_before", {tokens_, width_});
        Tensor weight = g.input("weight", {tile_, width_});
        g.output("of_x",
                 product(of_logits, {kClass, kToken}, weight, {kClass, kWidth}, {kToken, kWidth}) +
                     before);
    }
    void add_of_weight(ChunkGraph& g, Tensor of_logits) const {
        Tensor before = g.input("of_weight_before", {tile_, width_});
        Tensor x = g.input("x", {tokens_, width_});
        g.output(
            "of_weight",
            product(of_logits, {kClass, kToken}, x, {kToken, kWidth}, {kClass, kWidth}) + before);
    }
    void add_of_bias(ChunkGraph& g, Tensor of_logits) const {
        Tensor before = unsqueeze(g.input("of_bias_before", {tile_}), 1);
        g.output("of_bias", squeeze(reduce(Reduction::sum, of_logits, 2) + before, 1));
    }

    const Graph& graph_;
    const fuse::FusedGraph& fused_;
    const fuse::Group& group_;
    Memories& memories_;
    const Node& node_;
    const LogitCurve& curve_;
    const target::LossChoices target_;
    const Dim classes_, width_;
    const std::string tokens_name_, tile_name_;
    const Dim tokens_, tile_;  // of this chunk, of this tile
    ChunkLoop chunks_;
    ChunkPlace x_, labels_, logits_, largest_, total_;
};

}  // namespace

LoweredKernel lower_loss(const Graph& graph, const fuse::FusedGraph& fused,
                         const fuse::Group& group, Memories& memories) {
    return LossLowering(graph, fused, group, memories).run();
}

}  // namespace fovea::lower
