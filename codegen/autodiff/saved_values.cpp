#include "codegen/autodiff/saved_values.h"

#include <algorithm>

#include "codegen/autodiff/recompute_checkpoints.h"
#include "codegen/graph/axes.h"

namespace fovea {

namespace {

class Choice {
  public:
    Choice(const Graph& step, const std::vector<Port>& wanted)
        : step_(step), readers_(step.nodes.size(), 0), inside_(values_inside_checkpoints(step)) {
        saved_.needed.assign(step.nodes.size(), false);
        saved_.read.assign(step.nodes.size(), false);
        is_next_.assign(step.nodes.size(), false);
        varies_.assign(step.nodes.size(), false);
        for (int id = 1; id < int(step.nodes.size()); ++id) {
            const Node& node = step[id];
            if (node.backward) continue;
            for (int input : node.inputs)
                if (input > 0) ++readers_[std::size_t(input)];
            varies_[std::size_t(id)] = varies(node);
            bool next = node.port == Port{Role::next, node.port.number};
            if (next) is_next_[std::size_t(node.inputs[0])] = true;
        }
        for (int id = 1; id < int(step.nodes.size()); ++id) {
            const Node& node = step[id];
            bool is_wanted = std::find(wanted.begin(), wanted.end(), node.port) != wanted.end();
            if (node.op == Op::output && is_wanted) saved_.needed[std::size_t(id)] = true;
        }
    }

    SavedValues run() {
        for (int id = int(step_.nodes.size()) - 1; id > 0; --id)
            if (saved_.needed[std::size_t(id)]) visit(id);
        std::reverse(saved_.stored.begin(), saved_.stored.end());
        return std::move(saved_);
    }

  private:
    void visit(int id) {
        const Node& node = step_[id];
        if (node.op == Op::input) return;
        bool forward = !node.backward && node.op != Op::output;
        if (forward && is_next_[std::size_t(id)]) {
            saved_.read[std::size_t(id)] = true;
            return;
        }
        if (forward && !is_computed_again(id)) {
            saved_.read[std::size_t(id)] = true;
            saved_.stored.push_back(id);
            return;
        }
        for (int input : node.inputs)
            if (input > 0) saved_.needed[std::size_t(input)] = true;
    }
    bool is_computed_again(int id) const {
        if (inside_[std::size_t(id)]) return true;
        switch (row_of(step_[id].op).op_class) {
            case OpClass::elementwise:
                return !looks_up(step_[id]) && !op_def(step_[id].op).draws &&
                       !finishes_product(id) && !is_costly(id);
            case OpClass::view:
            case OpClass::copy: return true;
            default: return false;
        }
    }
    /// Of a step's own: not the same in every step.
    bool varies(const Node& node) const {
        if (node.op == Op::input) return node.port.role != Role::capture;
        return std::any_of(node.inputs.begin(), node.inputs.end(),
                           [&](int input) { return input > 0 && varies_[std::size_t(input)]; });
    }
    /// Many instructions for a value that takes no more memory than its operands.
    bool is_costly(int id) const {
        return varies_[std::size_t(id)] && cost_of(step_[id]) == Cost::many &&
               !grows(step_, id, varies_);
    }
    /// A product with what is put to it, element by element, and read nowhere before that.
    bool finishes_product(int id) const {
        const Node& node = step_[id];
        if (node.op != Op::elementwise) return false;
        return std::any_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
            if (input <= 0 || step_[input].backward || readers_[std::size_t(input)] > 1)
                return false;
            if (!(step_[input].shape == node.shape)) return false;
            return step_[input].op == Op::einsum || finishes_product(input);
        });
    }

    const Graph& step_;
    std::vector<int> readers_;   // in the forward step
    std::vector<bool> inside_;   // a checkpoint
    std::vector<bool> is_next_;  // a state after the step
    std::vector<bool> varies_;   // of a step's own
    SavedValues saved_;
};

}  // namespace

SavedValues saved_values(const Graph& step, const std::vector<Port>& wanted) {
    return Choice(step, wanted).run();
}

}  // namespace fovea
