#include "codegen/decode/derive_decoding.h"

#include <map>
#include <set>

#include "codegen/base/error.h"
#include "codegen/decode/source_values.h"
#include "codegen/decode/time_axis.h"
#include "codegen/graph/op_def.h"
#include "codegen/graph/rewrite.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/movement.h"
#include "codegen/ops/sinusoids.h"

namespace fovea {

namespace {

/// Values of a model at one position. Those that do not depend on positions are the model's own.
class AtPosition {
  public:
    explicit AtPosition(const TimedGraph& timed)
        : timed_(timed),
          of_source_(find_source_values(timed)),
          source_(timed.model),
          rewrite_(source_),
          target_(rewrite_.target()),
          at_(source_.nodes.size()) {
        for (const Node& node : source_.nodes) {
            if (node.op == Op::parameter) taken_.insert(source_.path(node.scope));
            if (node.op == Op::input || node.op == Op::output) taken_.emplace(node.name);
        }
        for (const ParameterAlias& alias : source_.aliases) taken_.insert(source_.path(alias.name));
        name_kept();
    }
    AtPosition(const AtPosition&) = delete;
    AtPosition& operator=(const AtPosition&) = delete;
    virtual ~AtPosition() = default;

  protected:
    const Node& node_of(int id) const { return source_[id]; }
    bool has_time(int id) const { return timed_.has_time(id); }

    /// A value where it stands: as it is without positions, else at the one position.
    Tensor at(int id) {
        if (!has_time(id)) return rewrite_.mapped(id);
        Tensor& value = at_[std::size_t(id)];
        if (!value) value = of_all(id);
        return value;
    }
    /// A value of all positions where it is wanted at one.
    virtual Tensor of_all(int id) = 0;
    /// Keys and values that queries at the position read, and the positions that these have.
    virtual Tensor cached(int id, int attention, const char* name) = 0;
    virtual Dim cached_positions() const = 0;

    void make_at(int id) {
        const Node& node = source_[id];
        Graph::From from(target_, node);
        if (node.op == Op::attention) at_[std::size_t(id)] = attention_at(id);
        else if (is_origin(id) && node.op == Op::iota && node.axis == time(id))
            at_[std::size_t(id)] = iota(target_, shape_at(id), node.axis) + position_;
        else if (is_origin(id) && node.op == Op::sinusoids)
            at_[std::size_t(id)] = cast(sinusoids_at(position_, node.shape[1]), node.dtype);
        else if (is_origin(id) && op_def(node.op).steps) at_[std::size_t(id)] = row_at(id);
        else at_[std::size_t(id)] = copy_at(id);
    }

    int time(int id) const { return timed_.axis[std::size_t(id)]; }
    Shape shape_at(int id) const {
        Shape shape = source_[id].shape;
        shape[time(id)] = 1;
        return shape;
    }

    void output(const char* name, Tensor value, bool is_state, int scope) {
        make(target_, {.op = Op::output,
                       .dtype = value.dtype(),
                       .shape = value.shape(),
                       .inputs = inputs_of({value.id}),
                       .scope = scope,
                       .name = name,
                       .state = is_state});
    }
    /// The state of a cache before the call.
    Tensor cache_before(const char* name, const Shape& shape, DType dtype, int scope) {
        return make(target_, {.op = Op::input,
                              .dtype = dtype,
                              .shape = shape,
                              .scope = scope,
                              .name = name,
                              .state = true});
    }
    /// `MODULE.keys`, or with a number where a module attends several times or has such a name.
    const char* cache_name(int attention, const char* what) {
        const std::string module = source_.path(source_[attention].scope);
        const std::string base = (module.empty() ? "" : module + ".") + what;
        std::string name = base;
        for (int number = 2; !taken_.insert(name).second; ++number)
            name = base + std::to_string(number);
        return intern(name);
    }
    Shape cache_shape(int id) const {
        Shape shape = source_[id].shape;
        shape[time(id)] = Dim(kSteps);
        return shape;
    }

    bool is_kept(int id) const { return of_source_.kept[std::size_t(id)]; }
    /// The state of a value that is kept of the source; truths are kept as numbers.
    const char* kept_name(int id) const { return kept_names_.at(id); }

    const TimedGraph& timed_;
    const SourceValues of_source_;
    const Graph& source_;
    Rewrite rewrite_;
    Graph& target_;
    Tensor position_;  // i32 [1]

  private:
    /// Keys and values by the attention that reads them, others by their module.
    void name_kept() {
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            const Node& node = source_[id];
            if (!of_source_.in_step[std::size_t(id)] || is_kept(id)) continue;
            for (std::size_t i = 0; i < kMaxInputs; ++i) {
                const int input = node.inputs[i];
                if (input <= 0 || !is_kept(input) || kept_names_.contains(input)) continue;
                const bool is_pair = node.op == Op::attention && (i == 1 || i == 2);
                kept_names_[input] = is_pair ? cache_name(id, i == 1 ? "keys" : "values")
                                             : cache_name(input, "kept");
            }
        }
    }
    /// Whether the positions of a value begin with it.
    bool is_origin(int id) const {
        for (int input : source_[id].inputs)
            if (has_time(input)) return false;
        return true;
    }
    /// The row of a table that stands for the position.
    Tensor row_at(int id) {
        const Dim first = op_def(source_[id].op).steps(source_[id]).first;
        Tensor row = first == Dim(0) ? position_ : position_ + first;
        return gather(rewrite_.mapped(source_[id].inputs[0]), row);
    }
    /// The same op on values at the position.
    Tensor copy_at(int id) {
        Node node = source_[id];
        for (int& input : node.inputs)
            if (input > 0) input = at(input).id;
        node.shape = shape_at(id);
        copy_attribute(source_, node, target_);
        if (op_def(node.op).attribute == Attribute::rearrange)
            for (Dim& size : target_.rearranges[std::size_t(node.attribute)].axis)
                size = with_one(size, timed_.time);
        target_.nodes.push_back(node);
        return {&target_, int(target_.nodes.size()) - 1};
    }

    Tensor attention_at(int id) {
        Node node = source_[id];
        AttentionAttributes attributes = source_.attentions[std::size_t(node.attribute)];
        const bool is_own = has_time(node.inputs[1]);
        Tensor allowed;
        if (is_own) {
            node.inputs[1] = cached(node.inputs[1], id, "keys").id;
            node.inputs[2] = cached(node.inputs[2], id, "values").id;
            node.inputs[3] = lens_at(node).id;
            allowed = allowed_at(node, attributes.window);
            attributes.window = {};
            attributes.has_lens = true;
        } else {
            for (int i : {1, 2, 3})
                if (node.inputs[std::size_t(i)] > 0)
                    node.inputs[std::size_t(i)] = at(node.inputs[std::size_t(i)]).id;
        }
        if (allowed) node.inputs[4] = allowed.id;
        else if (node.inputs[4] > 0) node.inputs[4] = at(node.inputs[4]).id;
        attributes.has_allowed = node.inputs[4] > 0;
        node.inputs[0] = at(source_[id].inputs[0]).id;
        node.shape = shape_at(id);
        attributes.score = copy_score(attributes);
        target_.attentions.push_back(attributes);
        node.attribute = int(target_.attentions.size()) - 1;
        target_.nodes.push_back(node);
        return {&target_, int(target_.nodes.size()) - 1};
    }
    /// Keys up to the position, and before the lengths that there are.
    Tensor lens_at(const Node& node) {
        Tensor lens = broadcast(position_ + 1, {node.shape[0].without_label()});
        if (const int own = node.inputs[3]; own > 0) {
            Tensor given = at(own);
            if (given.rank() == 2) given = squeeze(given, 1);
            lens = minimum(given, lens);
        }
        return lens;
    }
    /// Keys inside of the window, and those that were allowed; an empty Tensor for all.
    Tensor allowed_at(const Node& node, const KeyWindow& window) {
        Tensor allowed;
        if (window.ends_before()) {
            Tensor keys = iota(target_, {1, cached_positions()}, 1);
            Tensor first = position_ - double(window.before);
            allowed = keys >= first;
        }
        if (node.inputs[4] <= 0) return allowed;
        Tensor given = at(node.inputs[4]);
        return allowed ? logical_and(given, allowed) : given;
    }

    /// The score of a pair, whose query stands at the position.
    int copy_score(const AttentionAttributes& attributes) {
        std::map<int, int> copies;
        const Tensor position = reads_query_index(attributes) ? squeeze(position_, 0) : Tensor();
        const Tensor zero = position ? full(target_, {}, 0, i32) : Tensor();
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            if (source_[id].region != attributes.region) continue;
            Node node = source_[id];
            for (int& input : node.inputs) {
                if (input <= 0) continue;
                input = source_[input].region ? copies.at(input) : at(input).id;
            }
            copy_attribute(source_, node, target_);
            target_.nodes.push_back(node);
            copies[id] = int(target_.nodes.size()) - 1;
            if (position && node.op == Op::pair && node.port.role == Role::query_index)
                // No position is below 0, which look-ups in tables rely on.
                copies[id] =
                    in_region(node, Elementwise::maximum,
                              in_region(node, Elementwise::add, copies[id], position), zero);
        }
        return copies.at(attributes.score);
    }
    bool reads_query_index(const AttentionAttributes& attributes) const {
        for (const Node& node : source_.nodes) {
            if (node.region != attributes.region) continue;
            for (int input : node.inputs)
                if (input > 0 && source_[input].op == Op::pair &&
                    source_[input].port.role == Role::query_index)
                    return true;
        }
        return false;
    }
    int in_region(const Node& pair, Elementwise function, int index, Tensor other) {
        Node made{.op = Op::elementwise,
                  .function = function,
                  .dtype = i32,
                  .inputs = inputs_of({index, other.id}),
                  .region = pair.region,
                  .location = pair.location};
        target_.nodes.push_back(made);
        return int(target_.nodes.size()) - 1;
    }

    std::vector<Tensor> at_;  // by node of the source
    std::set<std::string> taken_;  // names
    std::map<int, const char*> kept_names_;  // by node of the source
};

/// One token more: everything along positions is at `position`.
class Step : public AtPosition {
  public:
    using AtPosition::AtPosition;

    Graph run() {
        position_ =
            make(target_, {.op = Op::input, .dtype = i32, .shape = {1}, .name = "position"});
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            if (!of_source_.in_step[std::size_t(id)] || source_[id].region) continue;
            if (has_time(id)) make_at(id);
            else if (is_kept(id)) rewrite_.set(id, kept_before(id));
            else rewrite_.set(id, rewrite_.copy(id));
        }
        output("logits", at(timed_.logits), false, 0);
        return std::move(target_);
    }

  private:
    Tensor of_all(int id) override {
        throw InternalError("derive_decoding: node " + std::to_string(id) + " has no value yet");
    }
    Dim cached_positions() const override { return Dim(kSteps); }
    Tensor kept_before(int id) {
        const Node& node = source_[id];
        const bool is_truth = node.dtype == boolean;
        Tensor kept =
            cache_before(kept_name(id), node.shape, is_truth ? i32 : node.dtype, node.scope);
        return is_truth ? cast(kept, boolean) : kept;
    }
    Tensor cached(int id, int attention, const char* what) override {
        const char* name = cache_name(attention, what);
        const int scope = source_[attention].scope;
        Tensor row = at(id);
        Tensor before = cache_before(name, cache_shape(id), row.dtype(), scope);
        Shape positions = {before.dim(-2), 1};
        Tensor is_new = eq(iota(target_, positions, 0), position_);
        Tensor next = where(is_new, row, before);
        output(name, next, true, scope);
        return next;
    }
};

/// A prompt: keys and values of all positions, and what else logits need of the last one.
class Prefill : public AtPosition {
  public:
    using AtPosition::AtPosition;

    Graph run() {
        mark_needs();
        const Dim length = Dim(name_of_time());
        Tensor last = make(target_, {.op = Op::extent, .dtype = i32, .dim = length});
        position_ = unsqueeze(last - 1, 0);
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            if (!timed_.wanted[std::size_t(id)] || source_[id].region) continue;
            if (!has_time(id) || all_[std::size_t(id)]) rewrite_.set(id, rewrite_.copy(id));
            else make_at(id);
            if (source_[id].op == Op::attention && all_[std::size_t(id)]) keep(id);
            if (is_kept(id)) keep_of_source(id);
        }
        output("logits", at(timed_.logits), false, 0);
        return std::move(target_);
    }

  private:
    /// Which values are there at all positions: what is given, and what becomes keys and values.
    void mark_needs() {
        all_.assign(source_.nodes.size(), false);
        for (int id = int(source_.nodes.size()) - 1; id > 0; --id) {
            if (!timed_.wanted[std::size_t(id)] || !has_time(id)) continue;
            const Node& node = source_[id];
            if (node.op == Op::input) all_[std::size_t(id)] = true;
            for (int i = 0; i < int(kMaxInputs); ++i) {
                const int input = node.inputs[std::size_t(i)];
                const bool is_cached = node.op == Op::attention && (i == 1 || i == 2);
                if (has_time(input) && (all_[std::size_t(id)] || is_cached))
                    all_[std::size_t(input)] = true;
            }
        }
    }
    std::string name_of_time() const {
        Text text;
        text << timed_.time;
        return std::string(text.view());
    }
    Tensor of_all(int id) override {
        const Dim first = Dim(name_of_time()) - 1;
        return slice(rewrite_.mapped(id), time(id), first, Dim(1));
    }
    Dim cached_positions() const override { return Dim(name_of_time()); }
    Tensor cached(int id, int attention, const char* what) override {
        Tensor all = rewrite_.mapped(id);
        const Dim rest = Dim(kSteps) - Dim(name_of_time());
        output(cache_name(attention, what), pad(all, time(id), 0, rest), false,
               source_[attention].scope);
        return all;
    }
    void keep_of_source(int id) {
        Tensor value = rewrite_.mapped(id);
        if (value.dtype() == boolean) value = cast(value, i32);
        output(kept_name(id), value, false, source_[id].scope);
    }
    /// Keeps what an attention of all positions reads.
    void keep(int attention) {
        if (!has_time(source_[attention].inputs[1])) return;
        cached(source_[attention].inputs[1], attention, "keys");
        cached(source_[attention].inputs[2], attention, "values");
    }

    std::vector<bool> all_;  // by node: whether all positions are needed
};

}  // namespace

std::optional<std::string> why_not_decodable(const Graph& model) {
    try {
        find_time_axes(model);
    } catch (const UserError& error) {
        return error.what();
    }
    return std::nullopt;
}

Decoding derive_decoding(const Graph& model) {
    const TimedGraph timed = find_time_axes(model);
    return {Prefill(timed).run(), Step(timed).run()};
}

}  // namespace fovea
