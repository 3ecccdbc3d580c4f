#include "codegen/decode/derive_decoding.h"

#include "codegen/base/error.h"
#include "codegen/base/room.h"
#include "codegen/decode/at_position.h"
#include "codegen/decode/row_positions.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

/// State `number` of a loop after its last step.
Tensor state_after(Graph& graph, const ScanFunction* function, const Dim& steps,
                   const std::vector<Tensor>& inputs, int number) {
    Tensor all = make_scan(graph, function, steps, inputs, number);
    return squeeze(slice(all, 0, steps.without_label(), Dim(1)), 0);
}

/// What is left of whole numbers, none of them below 0, over others.
Tensor rest_of(Tensor x, Tensor over) { return x - x / over * over; }

/// One token more: everything along positions is at `position`.
class Step : public AtPosition {
  public:
    using AtPosition::AtPosition;

    Graph run() {
        position_ = make(target_, {.op = Op::input, .dtype = i32, .shape = {1}, .name = kPosition});
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            if (!of_source_.in_step[std::size_t(id)] || source_[id].region) continue;
            if (is_loop(id)) set_at(id, scan_at(id));
            else if (has_time(id)) make_at(id);
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
    bool reads_rings() const override { return true; }
    Tensor kept_before(int id) {
        const Node& node = source_[id];
        return before(name_of_kept(id), node.shape, node.dtype, node.scope);
    }
    Tensor make_cached(const char* name, int operand, int scope, std::int64_t ring) override {
        const Tensor row = truths_as_numbers(at(operand));
        Shape shape = source_[operand].shape, along{room_of(ring)};
        shape[time(operand)] = room_of(ring);
        for (int i = time(operand) + 1; i < shape.rank(); ++i) along.push(1);
        if (!ring) target_[position_.id].dim = Dim(kSteps);  // such a cache ends
        Tensor slot = ring ? rest_of(position_, slots_of(ring)) : position_;
        Tensor is_new = eq(iota(target_, along, 0), slot);
        const Tensor old = before(name, shape, type_in_cache(row.dtype()), scope);
        const Tensor next = cast(where(is_new, row, cast(old, row.dtype())), old.dtype());
        output(name, next, true, scope);
        return cast(next, source_[operand].dtype);
    }

    /// One step of a loop, from the states that the step before has left, which it replaces.
    Tensor scan_at(int id) {
        const ScanFunction& function = *scan_of(source_, id).function;
        auto [loop, is_new] = loops_.try_emplace(loop_of(id));
        if (is_new) loop->second = take_step(id);
        return make_scan(target_, &function, 1, loop->second, source_[id].axis);
    }
    std::vector<Tensor> take_step(int id) {
        const Node& node = source_[id];
        Graph::From from(target_, node);
        const ScanFunction& function = *scan_of(source_, id).function;
        std::vector<Tensor> inputs;
        std::vector<const char*> names;
        for (int i = 0; i < function.inputs(); ++i) {
            const int input = node.inputs[std::size_t(i)];
            const bool is_state =
                i >= function.sequences && i < function.sequences + function.states;
            if (!is_state) {
                inputs.push_back(at(input));
                continue;
            }
            names.push_back(name_of_state(id));
            const Node& first = source_[input];
            inputs.push_back(before(names.back(), first.shape, first.dtype, node.scope));
        }
        for (int i = 0; i < function.states; ++i)
            output(names[std::size_t(i)], state_after(target_, &function, 1, inputs, i), true,
                   node.scope);
        return inputs;
    }

    std::map<Loop, std::vector<Tensor>> loops_;  // what a step of each reads
};

/// A prompt: keys and values of all positions, and what else logits need of the last one.
class Prefill : public AtPosition {
  public:
    using AtPosition::AtPosition;

    Graph run() {
        mark_needs();
        Tensor last = make(target_, {.op = Op::extent, .dtype = i32, .dim = length()});
        position_ = unsqueeze(last - 1, 0);
        for (int id = 1; id < int(source_.nodes.size()); ++id) {
            if (!timed_.wanted[std::size_t(id)] || source_[id].region) continue;
            if (!has_time(id) || all_[std::size_t(id)]) rewrite_.set(id, rewrite_.copy(id));
            else make_at(id);
            if (all_[std::size_t(id)]) keep_operands(id);
            if (is_loop(id)) keep_states(id);
            if (is_kept(id))
                output(name_of_kept(id), rewrite_.mapped(id), false, source_[id].scope);
        }
        output("logits", at(timed_.logits), false, 0);
        return std::move(target_);
    }

  private:
    /// Which values are there at all positions: what is given, what becomes keys and values, and
    /// what loops go along.
    void mark_needs() {
        all_.assign(source_.nodes.size(), false);
        for (int id = int(source_.nodes.size()) - 1; id > 0; --id) {
            if (!timed_.wanted[std::size_t(id)] || !has_time(id)) continue;
            const Node& node = source_[id];
            if (node.op == Op::input || is_loop(id)) all_[std::size_t(id)] = true;
            for (int i = 0; i < int(kMaxInputs); ++i) {
                const int input = node.inputs[std::size_t(i)];
                if (has_time(input) && (all_[std::size_t(id)] || is_cached(id, i)))
                    all_[std::size_t(input)] = true;
            }
        }
    }
    Dim length() const {
        Text text;
        text << timed_.time;
        return Dim(text.view());
    }
    Tensor of_all(int id) override {
        return slice(rewrite_.mapped(id), time(id), length() - 1, Dim(1));
    }
    Dim cached_positions() const override { return length(); }
    bool reads_rings() const override { return false; }
    Tensor make_cached(const char* name, int operand, int scope, std::int64_t ring) override {
        const Tensor all = rewrite_.mapped(operand);
        Tensor value = truths_as_numbers(all);
        value = cast(value, type_in_cache(value.dtype()));
        const Dim rest = Dim(kSteps) - length();
        value = ring ? in_ring(value, time(operand), ring) : pad(value, time(operand), 0, rest);
        output(name, value, false, scope);
        return all;
    }
    /// Each slot has the last position that is the slot's number but for multiples of the slots;
    /// those that no position has come to have the first one.
    Tensor in_ring(Tensor all, int axis, std::int64_t ring) {
        Tensor slots = slots_of(ring), slot = iota(target_, {room_of(ring)}, 0);
        Tensor behind = rest_of(position_ + slots - slot, slots);
        Tensor rows = gather(moved(all, axis, 0), maximum(position_ - behind, 0));
        return moved(rows, 0, axis);
    }
    /// Axis `from` stands at `to`, the others stay in their order.
    static Tensor moved(Tensor x, int from, int to) {
        FixedArray<signed char, Shape::kMaxRank> order{};
        for (int i = 0, other = 0; i < x.rank(); ++i) {
            if (i == to) {
                order[std::size_t(i)] = (signed char)from;
                continue;
            }
            if (other == from) ++other;
            order[std::size_t(i)] = (signed char)other++;
        }
        return permute(x, order);
    }
    /// Keeps what an attention of all positions reads.
    void keep_operands(int attention) {
        for (int operand : {1, 2, 4})
            if (is_cached(attention, operand)) cached(attention, operand);
    }
    /// Keeps the states that a loop ends with.
    void keep_states(int id) {
        if (!kept_loops_.insert(loop_of(id)).second) return;
        const ScanAttributes& scan = scan_of(source_, id);
        std::vector<Tensor> inputs;
        for (int i = 0; i < scan.function->inputs(); ++i)
            inputs.push_back(rewrite_.mapped(source_[id].inputs[std::size_t(i)]));
        for (int i = 0; i < scan.function->states; ++i)
            output(name_of_state(id), state_after(target_, scan.function, scan.steps, inputs, i),
                   false, source_[id].scope);
    }

    std::vector<bool> all_;  // by node: whether all positions are needed
    std::set<Loop> kept_loops_;
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

Decoding derive_decoding(const Graph& model, DType caches) {
    const TimedGraph timed = find_time_axes(model);
    Graph step = Step(timed, caches).run();
    if (!why_not_row_positions(step)) step = with_row_positions(step);
    return {Prefill(timed, caches).run(), std::move(step)};
}

}  // namespace fovea
