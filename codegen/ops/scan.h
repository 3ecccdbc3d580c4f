// A loop over steps: a function of one step's values and of the state that the step before left.
//
// While a model is traced, the step is a region of the graph; `seal_scans` (scan_function.h) takes
// it out, and from then on a node of Op::scan holds it.
#pragma once

#include <concepts>
#include <ranges>

#include "codegen/ops/movement.h"

namespace fovea {

/// What the function of a step returns: the step's value, and the state that the next step gets.
/// What `scan` returns: the values of all steps, [steps, …], and the state after the last one.
template <class Value, class State>
struct Step {
    Value value;
    State state;
};
template <class Value, class State>
Step(Value, State) -> Step<Value, State>;

struct ScanOptions {
    bool reverse = false;  // from the last step to the first
};

namespace detail {

struct AnyMember {
    template <class T>
    constexpr operator T() const;
};
template <class T, class... Members>
concept MadeOf = std::is_aggregate_v<T> && requires { T{Members{}...}; };

/// Calls `f` for each Tensor of a Tensor, a range, or an aggregate of up to four of these.
template <class Tree, class F>
constexpr void for_each_tensor(Tree& tree, F&& f) {
    using A = AnyMember;
    if constexpr (std::same_as<Tree, Tensor>) {
        f(tree);
    } else if constexpr (std::ranges::range<Tree>) {
        for (auto& part : tree) for_each_tensor(part, f);
    } else if constexpr (MadeOf<Tree, A, A, A, A>) {
        auto& [a, b, c, d] = tree;
        for_each_tensor(a, f), for_each_tensor(b, f);
        for_each_tensor(c, f), for_each_tensor(d, f);
    } else if constexpr (MadeOf<Tree, A, A, A>) {
        auto& [a, b, c] = tree;
        for_each_tensor(a, f), for_each_tensor(b, f), for_each_tensor(c, f);
    } else if constexpr (MadeOf<Tree, A, A>) {
        auto& [a, b] = tree;
        for_each_tensor(a, f), for_each_tensor(b, f);
    } else {
        static_assert(MadeOf<Tree, A>,
                      "a scan's values are tensors, structs of tensors, or ranges");
        auto& [a] = tree;
        for_each_tensor(a, f);
    }
}

/// Builds the nodes of one scan.
class ScanTrace {
  public:
    /// `first`: one of the tensors that the loop starts from.
    constexpr ScanTrace(Tensor first, ScanOptions options, Location location)
        : graph_(graph_of("scan", location, {first})),
          first_(first),
          location_(location),
          index_(int(graph_.scans.size())) {
        graph_.scans.push_back({.reverse = options.reverse});
    }
    constexpr void check(Tensor tensor) {
        if (!is_usable("scan", location_, {first_, tensor})) poison();
    }
    constexpr void check_counts(int sequences, int states, int next_states) {
        if (is_poison_ || (sequences > 0 && states == next_states)) return;
        Text why;
        if (!sequences) why << "it needs a sequence, [steps, ...], to go along";
        else why << "it starts with " << states << " states, but a step returns " << next_states;
        refuse(first_, why);
    }
    /// A node of the loop has one input for each sequence, state and value from outside.
    constexpr void check_reads(int sequences, int states) {
        if (is_poison_) return;
        List<int> outside;
        for (int id = first_node_; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            const bool is_own_leaf = node.op == Op::step && node.attribute == index_;
            if (!is_inside(node) || is_own_leaf) continue;
            for (std::size_t i = 0; i < kMostOperands; ++i)
                if (node.inputs[i] > 0) note_read(node.inputs[i], outside);
        }
        const int reads = sequences + states + int(outside.size());
        if (reads <= int(kMaxInputs)) return;
        Text why;
        why << "a step reads " << reads << " sequences, states and values from outside, "
            << int(kMaxInputs) << " are possible: make several scans of it";
        refuse(first_, why);
    }
    constexpr void note_steps(Tensor sequence) {
        check(sequence);
        if (is_poison_) return;
        if (sequence.rank() == 0) {
            Text why;
            why << "a sequence must be [steps, ...], got " << sequence.shape();
            return refuse(sequence, why);
        }
        Dim& steps = attributes().steps;
        if (has_steps_ && !fits(steps, sequence.dim(0))) {
            Text why;
            why << "its sequences have " << steps << " and " << sequence.dim(0) << " steps";
            return refuse(sequence, why);
        }
        if (!has_steps_) steps = sequence.dim(0);
        has_steps_ = true;
    }
    constexpr void enter() {
        outer_ = graph_.region;
        first_node_ = int(graph_.nodes.size());
        attributes().region = graph_.enter_region();
        outer_checkpoint_ = graph_.checkpoint;
        graph_.checkpoint = 0;  // one around the loop has the loop inside, not its step
    }
    constexpr void leave() {
        graph_.leave_region(outer_);
        graph_.checkpoint = outer_checkpoint_;
        attributes().last_region = graph_.regions - 1;
    }
    /// One step's part of a sequence.
    constexpr Tensor value_of(Tensor sequence) {
        if (is_poison_) return {&graph_, 0};
        Shape shape;
        for (int i = 1; i < sequence.rank(); ++i) shape.push(sequence.dim(i));
        return leaf(sequence, shape, StepPart::value);
    }
    /// A state before the step.
    constexpr Tensor state_of(Tensor initial) {
        check(initial);
        return is_poison_ ? Tensor{&graph_, 0} : leaf(initial, initial.shape(), StepPart::state);
    }
    /// The state after the last step.
    constexpr Tensor last(Tensor next, Tensor initial, int number) {
        if (next.is_poison()) poison();
        if (is_poison_) return {&graph_, 0};
        if (!fits(next.shape(), initial.shape()) || next.dtype() != initial.dtype()) {
            Text why;
            why << "state " << number << " starts as " << name_of(initial.dtype()) << " "
                << initial.shape() << ", but a step returns " << name_of(next.dtype()) << " "
                << next.shape();
            refuse(next, why);
            return {&graph_, 0};
        }
        const ScanAttributes& scan = attributes();
        Dim steps = scan.steps, at = scan.reverse ? Dim(0) : steps;
        Tensor all = result(next, steps.without_label() + 1, StepPart::state);
        return squeeze(slice(all, 0, at, 1, location_), 0, location_);
    }
    /// A value of all steps.
    constexpr Tensor all(Tensor value) {
        if (value.is_poison()) poison();
        if (is_poison_) return {&graph_, 0};
        return result(value, attributes().steps, StepPart::value);
    }

  private:
    constexpr ScanAttributes& attributes() { return graph_.scans[std::size_t(index_)]; }
    constexpr bool is_inside(const Node& node) {
        return node.region >= attributes().region && node.region <= attributes().last_region;
    }
    /// Numbers and sizes are made again in the step.
    constexpr void note_read(int id, List<int>& outside) {
        const Node& node = graph_[id];
        if (is_inside(node) || node.op == Op::constant || node.op == Op::extent) return;
        for (int other : outside)
            if (other == id) return;
        outside.push_back(id);
    }
    constexpr void poison() { is_poison_ = true; }
    constexpr void refuse(Tensor tensor, const Text& why) {
        Text text;
        text << "scan: " << why.view();
        graph_.write_origin(text, tensor.id);
        fail(graph_, location_, graph_.scope_of(tensor.id), text);
        poison();
    }
    constexpr Tensor leaf(Tensor from, const Shape& shape, StepPart part) {
        return make(graph_, {.op = Op::step,
                             .dtype = from.dtype(),
                             .shape = shape,
                             .inputs = inputs_of({from.id}),
                             .location = location_,
                             .axis = int(part),
                             .attribute = index_});
    }
    constexpr Tensor result(Tensor value, const Dim& count, StepPart part) {
        Shape shape{count};
        for (const Dim& dim : value.shape()) shape.push(dim);
        return make(graph_, {.op = Op::scan,
                             .dtype = value.dtype(),
                             .shape = shape,
                             .inputs = inputs_of({value.id}),
                             .scope = graph_.scope_of(value.id),
                             .location = location_,
                             .axis = int(part),
                             .attribute = index_});
    }

    Graph& graph_;
    Tensor first_;
    Location location_;
    int index_, outer_ = 0, first_node_ = 0, outer_checkpoint_ = 0;
    bool has_steps_ = false, is_poison_ = false;
};

/// The first tensor of two trees.
template <class A, class B>
constexpr Tensor first_of(A& a, B& b) {
    Tensor first;
    const auto take = [&](Tensor& tensor) { first = first.graph ? first : tensor; };
    for_each_tensor(a, take), for_each_tensor(b, take);
    return first;
}
template <class Tree>
constexpr int count_of(Tree& tree) {
    int count = 0;
    for_each_tensor(tree, [&](Tensor&) { ++count; });
    return count;
}

}  // namespace detail

/// Runs `step` over the first axis of `sequences`, as jax.lax.scan does: `step(values, state)` gets
/// each sequence's slice, […] of [steps, …], and the state, `initial` at first, and returns
/// `Step{value, next state}`. Sequences, states and values are Tensors, structs of them or ranges;
/// there is at least one sequence. States keep their shapes.
template <class Sequences, class State, class F>
constexpr auto scan(Sequences sequences, State initial, F&& step, ScanOptions options = {},
                    Location location = Location::here()) {
    detail::ScanTrace trace(detail::first_of(sequences, initial), options, location);
    detail::for_each_tensor(sequences, [&](Tensor& sequence) { trace.note_steps(sequence); });
    trace.enter();
    Sequences values = sequences;
    State before = initial;
    detail::for_each_tensor(values, [&](Tensor& value) { value = trace.value_of(value); });
    detail::for_each_tensor(before, [&](Tensor& state) { state = trace.state_of(state); });
    auto result = step(values, before);
    static_assert(
        requires { result.value, result.state; },
        "the step of a scan returns Step{value, next state}");
    detail::for_each_tensor(result.state, [&](Tensor& state) { trace.check(state); });
    detail::for_each_tensor(result.value, [&](Tensor& value) { trace.check(value); });
    trace.leave();
    std::vector<Tensor> starts;
    detail::for_each_tensor(initial, [&](Tensor& state) { starts.push_back(state); });
    const int next_states = detail::count_of(result.state);
    trace.check_counts(detail::count_of(sequences), int(starts.size()), next_states);
    trace.check_reads(detail::count_of(sequences), int(starts.size()));
    while (int(starts.size()) < next_states) starts.push_back({});
    int number = 0;
    detail::for_each_tensor(result.state, [&](Tensor& state) {
        state = trace.last(state, starts[std::size_t(number)], number);
        ++number;
    });
    detail::for_each_tensor(result.value, [&](Tensor& value) { value = trace.all(value); });
    return result;
}

}  // namespace fovea
