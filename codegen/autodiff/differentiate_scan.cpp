// Splits the differentiated step into the forward step, which stores more, and the backward step,
// which reads that.
#include "codegen/autodiff/differentiate_scan.h"

#include <map>
#include <string>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/autodiff/saved_values.h"
#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"
#include "codegen/ops/reduction.h"

namespace fovea {

namespace {

/// What stands in the backward step for a value of the forward step.
struct Source {
    enum class Kind { sequence, capture } kind = Kind::sequence;
    Tensor outside;
};

class ScanGradient {
  public:
    ScanGradient(Graph& graph, int id, const std::vector<Tensor>& cotangents,
                 const std::vector<bool>& wanted)
        : graph_(graph),
          nodes_(nodes_of_scan(graph, id)),
          forward_(*scan_of(graph, id).function),
          steps_(scan_of(graph, id).steps),
          inputs_(graph[id].inputs),
          cotangents_(cotangents),
          wanted_(wanted),
          step_(add_gradients(forward_.step, {.from_loss = false, .of_inputs = true})) {}

    std::vector<Tensor> run() {
        saved_ = saved_values(step_, wanted_outputs());
        store_saved();
        build_step();
        return gradients();
    }

  private:
    bool is_state(int j) const { return find_output(step_, Port{Role::state, j, true}) != 0; }
    Tensor input(int i) { return {&graph_, inputs_[std::size_t(i)]}; }
    int first_state() const { return forward_.sequences; }
    int first_capture() const { return forward_.sequences + forward_.states; }

    /// The gradients that the backward step computes, by what they are the gradients of.
    std::vector<Port> wanted_outputs() const {
        std::vector<Port> ports;
        for (int j = 0; j < forward_.states; ++j)
            if (is_state(j)) ports.push_back({Role::state, j, true});
        for (int i = 0; i < forward_.sequences; ++i)
            if (wanted_[std::size_t(i)]) ports.push_back({Role::value, i, true});
        for (int i = 0; i < forward_.captures; ++i)
            if (wanted_[std::size_t(first_capture() + i)])
                ports.push_back({Role::capture, i, true});
        return ports;
    }

    /// The forward scan gives the saved values too.
    void store_saved() {
        ScanFunction function = forward_;
        Graph with_saved = step_;
        for (int value : saved_.stored)
            with_saved.nodes.push_back(output_of(step_, value, {Role::result, function.results++}));
        function.step =
            Rewrite::run(with_saved, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
                const Node& node = with_saved[id];
                bool gradient = node.op == Op::output && node.port.gradient;
                if (node.backward || gradient) return Tensor{&rewrite.target(), 0};
                return {};
            });
        stored_forward_ = keep(std::move(function));
        for (int node : nodes_)
            graph_.scans[std::size_t(graph_[node].attribute)].function = stored_forward_;
        for (std::size_t i = 0; i < saved_.stored.size(); ++i) {
            int number = forward_.states + forward_.results + int(i);
            outside_[saved_.stored[i]] = result(number);
        }
    }
    /// Result `number` of the forward scan.
    Tensor result(int number) {
        for (int node : nodes_)
            if (graph_[node].axis == number) return {&graph_, node};
        std::vector<Tensor> inputs;
        for (int i = 0; i < forward_.inputs(); ++i) inputs.push_back(input(i));
        Tensor made = make_scan(graph_, stored_forward_, steps_, inputs, number);
        nodes_.push_back(made.id);
        return made;
    }
    /// The states before each step, or after it, of all their values.
    Tensor before(Tensor all) { return slice(all, 0, forward_.reverse ? 1 : 0, steps_); }
    Tensor after(Tensor all) { return slice(all, 0, forward_.reverse ? 0 : 1, steps_); }

    /// What node `id` of the forward step is outside, for all steps.
    Tensor sequence_of(int id) {
        if (auto at = outside_.find(id); at != outside_.end()) return at->second;
        for (int j = 0; j < forward_.states; ++j) {
            if (find_input(step_, {Role::state, j}) == id) return before(result(j));
            int next = find_output(step_, Port{Role::next, j});
            if (step_[next].inputs[0] == id) return after(result(j));
        }
        for (int i = 0; i < forward_.sequences; ++i)
            if (find_input(step_, {Role::value, i}) == id) return input(i);
        throw InternalError("scan: a value that the backward step reads is not stored");
    }

    Tensor add_input(Graph& step, const Node& like, Role role, int number) {
        return make(step, input_like(like, {role, number}));
    }
    Tensor add_sequence(Graph& step, const Node& like, Tensor outside) {
        sequences_.push_back(outside);
        return add_input(step, like, Role::value, int(sequences_.size()) - 1);
    }

    void build_step() {
        backward_.reverse = !forward_.reverse;
        backward_.step =
            Rewrite::run(step_, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
                const Node& node = step_[id];
                if (!saved_.needed[std::size_t(id)]) return Tensor{&rewrite.target(), 0};
                if (node.op == Op::output) return rename(rewrite, id);
                if (node.op == Op::input) return place_input(rewrite.target(), node, id);
                if (saved_.read[std::size_t(id)])
                    return add_sequence(rewrite.target(), node, sequence_of(id));
                return {};
            });
        backward_.sequences = int(sequences_.size());
        backward_.captures = int(captures_.size());
    }
    Tensor place_input(Graph& step, const Node& node, int id) {
        const auto& [role, number, gradient] = node.port;
        if (role == Role::next) return adjoint(step, node, number);
        if (role == Role::result) {
            Tensor given = cotangents_[std::size_t(forward_.states + number)];
            if (given.exists()) return add_sequence(step, node, given);
            return full(step, node.shape, 0, node.dtype);
        }
        if (role == Role::capture) {
            captures_.push_back(input(first_capture() + number));
            return add_input(step, node, Role::capture, int(captures_.size()) - 1);
        }
        return add_sequence(step, node, sequence_of(id));
    }
    /// The gradient of state j where nobody reads another state than that after the last step; it
    /// is zero but for that one.
    Tensor of_last_alone(int j) const {
        const Tensor given = cotangents_[std::size_t(j)];
        if (!given.exists() || given.node().op != Op::pad || given.node().axis != 0) return {};
        const Tensor last{&graph_, given.node().inputs[0]};
        const Dim place = forward_.reverse ? Dim(0) : steps_.without_label();
        const bool alone = last.dim(0).is_one() && given.node().dim == place;
        return alone ? last : Tensor{};
    }
    /// The gradient of the state after a step: that of the steps behind it, and its own.
    Tensor adjoint(Graph& step, const Node& node, int j) {
        Tensor carried = add_input(step, node, Role::state, state_number(j));
        Tensor given = cotangents_[std::size_t(j)];
        if (!given.exists() || of_last_alone(j).exists()) return carried;
        return carried + add_sequence(step, node, after(given));
    }
    /// States that have gradients, numbered.
    int state_number(int j) {
        auto [at, fresh] = states_.try_emplace(j, int(states_.size()));
        return at->second;
    }
    Tensor rename(Rewrite& rewrite, int id) {
        const Node& node = step_[id];
        Node output = node;
        output.inputs[0] = rewrite.mapped(node.inputs[0]).id;
        if (node.port.role == Role::state) {
            output.port = {Role::next, state_number(node.port.number)};
        } else {
            results_[node.port] = backward_.results;
            output.port = {Role::result, backward_.results++};
        }
        output.name = name_of(output.port);
        return make(rewrite.target(), output);
    }

    std::vector<Tensor> gradients() {
        backward_.states = int(states_.size());
        std::vector<Tensor> inputs = sequences_;
        std::map<int, int> by_number;
        for (auto [j, number] : states_) by_number[number] = j;
        for (auto [number, j] : by_number) {
            // A state whose gradient no step reads is an input of the step all the same.
            Tensor start = input(first_state() + j);
            if (!find_input(backward_.step, {Role::state, number}))
                add_input(backward_.step, start.node(), Role::state, number);
            Tensor last = of_last_alone(j);
            inputs.push_back(last.exists() ? squeeze(last, 0)
                                           : full(graph_, start.shape(), 0, start.dtype()));
        }
        inputs.insert(inputs.end(), captures_.begin(), captures_.end());
        const ScanFunction* function = keep(backward_);
        auto made = [&](int number) { return make_scan(graph_, function, steps_, inputs, number); };
        auto of_results = [&](Role role, int i) {
            return made(function->states + results_.at({role, i, true}));
        };
        std::vector<Tensor> gradients(static_cast<std::size_t>(forward_.inputs()));
        for (int i = 0; i < forward_.inputs(); ++i) {
            if (!wanted_[std::size_t(i)]) continue;
            Tensor& gradient = gradients[std::size_t(i)];
            if (i < forward_.sequences) gradient = of_results(Role::value, i);
            else if (i < first_capture()) gradient = of_initial(i - first_state(), made);
            else gradient = sum(of_results(Role::capture, i - first_capture()), 0);
        }
        return gradients;
    }
    /// The state before the first step: what the first step says, and its own.
    template <class Made>
    Tensor of_initial(int j, Made&& made) {
        Tensor all = made(states_.at(j));
        Dim last = backward_.reverse ? Dim(0) : steps_;
        Dim first = forward_.reverse ? steps_ : Dim(0);
        Tensor gradient = squeeze(slice(all, 0, last, 1), 0);
        Tensor own = cotangents_[std::size_t(j)];
        return own.exists() && !of_last_alone(j).exists()
                   ? gradient + squeeze(slice(own, 0, first, 1), 0)
                   : gradient;
    }

    Graph& graph_;
    std::vector<int> nodes_;
    const ScanFunction forward_;
    const Dim steps_;
    const Inputs inputs_;
    const std::vector<Tensor>& cotangents_;
    const std::vector<bool>& wanted_;
    const Graph step_;  // with its gradient
    SavedValues saved_;
    const ScanFunction* stored_forward_ = nullptr;
    std::map<int, Tensor> outside_;  // of saved values
    ScanFunction backward_;
    std::vector<Tensor> sequences_, captures_;
    std::map<int, int> states_;  // of the forward scan to those of the backward one
    std::map<Port, int> results_;  // gradients among the backward scan's results
};

}  // namespace

std::vector<int> nodes_of_scan(const Graph& graph, int id) {
    std::vector<int> nodes;
    for (int other = 1; other < int(graph.nodes.size()); ++other)
        if (is_same_scan(graph, id, other)) nodes.push_back(other);
    return nodes;
}

std::vector<Tensor> differentiate_scan(Graph& graph, int id, const std::vector<Tensor>& cotangents,
                                       const std::vector<bool>& wanted) {
    return ScanGradient(graph, id, cotangents, wanted).run();
}

}  // namespace fovea
