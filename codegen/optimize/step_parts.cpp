#include "codegen/optimize/step_parts.h"

#include <algorithm>

#include "codegen/graph/axes.h"
#include "codegen/graph/batcher.h"

namespace fovea {

namespace {

class Split {
  public:
    explicit Split(const ScanFunction& function) : step_(function.step) {
        const std::size_t count = step_.nodes.size();
        for (auto* flags : {&of_state_, &varies_, &captures_, &possible_, &core_, &next_, &root_})
            flags->assign(count, false);
        readers_.assign(count, 0);
        parts_.inside.assign(count, false);
        find_dependences();
        find_core();
        find_roots();
    }

    StepParts run() {
        for (int id = 1; id < int(step_.nodes.size()); ++id)
            if (step_[id].port.role == Role::result) place_result(step_[id].inputs[0]);
        parts_.stored.assign(stored_.begin(), stored_.end());
        for (int id = 1; id < int(step_.nodes.size()); ++id)
            if (next_[std::size_t(id)]) enter(id);
        for (int id : stored_) enter(id);
        return std::move(parts_);
    }

  private:
    template <class F>
    void for_inputs(int id, F&& f) const {
        for (int input : step_[id].inputs)
            if (input > 0) f(std::size_t(input));
    }
    void find_dependences() {
        for (int id = 1; id < int(step_.nodes.size()); ++id) {
            const Node& node = step_[id];
            const std::size_t at = std::size_t(id);
            if (node.op == Op::input) {
                of_state_[at] = node.port.role == Role::state;
                captures_[at] = node.port.role == Role::capture;
                varies_[at] = !captures_[at];
                possible_[at] = !of_state_[at];
                continue;
            }
            for_inputs(id, [&](std::size_t input) {
                ++readers_[input];
                of_state_[at] = of_state_[at] || of_state_[input];
                varies_[at] = varies_[at] || varies_[input];
                captures_[at] = captures_[at] || captures_[input];
            });
            possible_[at] = is_possible(id);
            for_inputs(
                id, [&](std::size_t input) { possible_[at] = possible_[at] && possible_[input]; });
        }
    }
    /// Whether a node can be computed for all steps at once from its inputs.
    bool is_possible(int id) const {
        std::uint64_t along = 0;
        for (std::size_t i = 0; i < kMaxInputs; ++i)
            if (const int input = step_[id].inputs[i]; input > 0)
                along |= std::uint64_t(varies_[std::size_t(input)]) << i;
        return !op_def(step_[id].op).draws && !why_not_batched(step_, id, along, 1);
    }
    /// What the states after the step depend on.
    void find_core() {
        for (int id = int(step_.nodes.size()) - 1; id > 0; --id) {
            const Node& node = step_[id];
            const bool is_next = node.port.role == Role::next;
            if (is_next) next_[std::size_t(node.inputs[0])] = true;
            if (is_next || core_[std::size_t(id)])
                for_inputs(id, [&](std::size_t input) { core_[input] = true; });
        }
    }
    static bool is_costly(const Node& node) { return cost_of(node) == Cost::sums; }
    /// What is worth taking out of the loop: products and sums that no state changes, with what
    /// finishes them, and all that is the same in every step.
    void find_roots() {
        for (int id = 1; id < int(step_.nodes.size()); ++id) {
            const Node& node = step_[id];
            if (of_state_[std::size_t(id)] || !possible_[std::size_t(id)]) continue;
            bool finishes = false;
            if (node.op == Op::elementwise && node.dtype == DType::f32)
                for_inputs(id, [&](std::size_t input) {
                    finishes = finishes || (root_[input] && readers_[input] == 1 &&
                                            step_[int(input)].shape == node.shape);
                });
            const bool same = node.op == Op::elementwise && node.dtype == DType::f32 &&
                              !varies_[std::size_t(id)] && captures_[std::size_t(id)];
            root_[std::size_t(id)] = is_costly(node) || finishes || same;
        }
    }

    void place_result(int value) {
        if (next_[std::size_t(value)] || step_[value].op == Op::input) return;
        if (!of_state_[std::size_t(value)] && possible_[std::size_t(value)]) return;
        std::set<int> border;
        bool costly = false;
        const bool movable =
            !core_[std::size_t(value)] && is_possible(value) && look(value, border, costly);
        if (movable && costly) stored_.insert(border.begin(), border.end());
        else stored_.insert(value);
    }
    /// Finds what the loop must store for `id` to be computed behind it.
    bool look(int id, std::set<int>& border, bool& costly) const {
        costly = costly || is_costly(step_[id]);
        bool possible = true;
        for_inputs(id, [&](std::size_t at) {
            const int input = int(at);
            if (step_[input].op == Op::input || next_[at]) return;
            if (!of_state_[at] && possible_[at]) return;
            if (is_border(input)) border.insert(input);
            else possible = possible && look(input, border, costly);
        });
        return possible;
    }
    /// Stored, rather than computed again: but for views, and values that grow out of smaller ones.
    bool is_border(int id) const {
        if (!is_possible(id)) return true;
        if (!core_[std::size_t(id)]) return false;
        return row_of(step_[id].op).op_class != OpClass::view && !grows(step_, id, varies_);
    }

    void enter(int id) {
        if (parts_.inside[std::size_t(id)]) return;
        parts_.inside[std::size_t(id)] = true;
        if (root_[std::size_t(id)]) {
            parts_.ahead.insert(id);
            return;
        }
        for_inputs(id, [&](std::size_t input) { enter(int(input)); });
    }

    const Graph& step_;
    std::vector<bool> of_state_, varies_, captures_;  // what a node depends on
    std::vector<bool> possible_;  // for all steps at once, down to the leaves
    std::vector<bool> core_, next_, root_;
    std::vector<int> readers_;
    std::set<int> stored_;
    StepParts parts_;
};

}  // namespace

StepParts split_step(const ScanFunction& function) { return Split(function).run(); }

}  // namespace fovea
