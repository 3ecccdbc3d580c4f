// Rebuilds each loop around what stays in it.
#include "codegen/optimize/hoist_from_scans.h"

#include <map>
#include <memory>

#include "codegen/graph/batcher.h"
#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"
#include "codegen/ops/movement.h"
#include "codegen/optimize/step_parts.h"

namespace fovea {

namespace {

class Hoisting {
  public:
    Hoisting(Rewrite& rewrite, int id)
        : target_(rewrite.target()),
          scan_(scan_of(rewrite.source(), id)),
          from_(*scan_.function),
          step_(from_.step),
          parts_(split_step(from_)),
          over_(step_, target_, 1) {
        for (int i = 0; i < from_.inputs(); ++i)
            inputs_.push_back(rewrite.mapped(rewrite.source()[id].inputs[std::size_t(i)]));
        define_inputs();
        build_step();
        define_results();
    }

    /// What stands for result `number` of the loop.
    Tensor result(int number) {
        if (number < from_.states) return made(number);
        const int output = find_output(step_, Port{Role::result, number - from_.states});
        const Batched all = over_.value(step_[output].inputs[0]);
        if (all.along) return all.tensor;
        Shape shape{scan_.steps};
        for (const Dim& dim : all.tensor.shape()) shape.push(dim);
        return broadcast(unsqueeze(all.tensor, 0), shape);
    }

  private:
    void define_inputs() {
        for (int i = 0; i < from_.sequences; ++i)
            over_.define(find_input(step_, {Role::value, i}), {inputs_[std::size_t(i)], true});
        for (int i = 0; i < from_.captures; ++i)
            over_.define(find_input(step_, {Role::capture, i}),
                         {inputs_[std::size_t(from_.sequences + from_.states + i)], false});
    }

    /// The step without what is computed outside of it, with outputs for what it stores.
    void build_step() {
        Graph marked = step_;
        for (std::size_t i = 0; i < parts_.stored.size(); ++i)
            marked.nodes.push_back(output_of(step_, parts_.stored[i], {Role::result, int(i)}));
        ScanFunction function = from_;
        function.sequences = function.captures = 0;
        function.results = int(parts_.stored.size());
        std::vector<Tensor> captures;
        function.step =
            Rewrite::run(marked, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
                const Node& node = marked[id];
                const bool carried = node.port.role == Role::state || node.port.role == Role::next;
                if (carried || id >= int(step_.nodes.size())) return {};
                if (!parts_.inside[std::size_t(id)]) return Tensor{&rewrite.target(), 0};
                if (node.op != Op::input && !parts_.ahead.contains(id)) return {};
                const Batched value = over_.value(id);
                const Role role = value.along ? Role::value : Role::capture;
                int& count = value.along ? function.sequences : function.captures;
                (value.along ? outer_ : captures).push_back(value.tensor);
                return make(rewrite.target(), input_like(node, {role, count++}));
            });
        for (int i = 0; i < from_.states; ++i)
            outer_.push_back(inputs_[std::size_t(from_.sequences + i)]);
        outer_.insert(outer_.end(), captures.begin(), captures.end());
        function_ = keep(std::move(function));
    }

    /// Result `number` of the loop that is left.
    Tensor made(int number) {
        auto [at, fresh] = made_.try_emplace(number);
        if (fresh) at->second = make_scan(target_, function_, scan_.steps, outer_, number);
        return at->second;
    }
    /// What the loop gives of each step, for what is computed behind it.
    void define_results() {
        for (int i = 0; i < from_.states; ++i) {
            const int before = find_input(step_, {Role::state, i});
            const int output = find_output(step_, Port{Role::next, i});
            const int after = step_[output].inputs[0];
            const Dim first = from_.reverse ? Dim(1) : Dim(0), second = Dim(1) - first;
            over_.define(before, {slice(made(i), 0, first, scan_.steps), true});
            if (!over_.is_defined(after))
                over_.define(after, {slice(made(i), 0, second, scan_.steps), true});
        }
        for (std::size_t i = 0; i < parts_.stored.size(); ++i)
            over_.define(parts_.stored[i], {made(from_.states + int(i)), true});
    }

    Graph& target_;
    const ScanAttributes scan_;
    const ScanFunction& from_;
    const Graph& step_;
    const StepParts parts_;
    Batcher over_;
    std::vector<Tensor> inputs_, outer_;
    const ScanFunction* function_ = nullptr;
    std::map<int, Tensor> made_;
};

}  // namespace

Graph hoist_from_scans(const Graph& graph) {
    if (!has_scans(graph)) return graph;
    const Graph inside = on_steps(graph, hoist_from_scans);
    std::map<std::pair<const ScanFunction*, Inputs>, std::unique_ptr<Hoisting>> loops;
    return Rewrite::run(inside, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        if (!is_scan(inside, id)) return {};
        auto& loop = loops[{scan_of(inside, id).function, inside[id].inputs}];
        if (!loop) loop = std::make_unique<Hoisting>(rewrite, id);
        return loop->result(inside[id].axis);
    });
}

}  // namespace fovea
