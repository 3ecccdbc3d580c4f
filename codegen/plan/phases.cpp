#include "codegen/plan/phases.h"

#include <set>

namespace fovea::plan {

namespace {

/// The tensors that some steps read and write.
class Touched {
  public:
    Touched(const std::vector<Tensor>& tensors, const std::vector<kernel::Kernel>& kernels)
        : tensors_(&tensors), kernels_(&kernels) {}

    void add(const Step& step) {
        for (std::size_t i = 0; i < step.arguments.size(); ++i)
            (writes(step, i) ? written_ : read_).insert(memory_of(step.arguments[i]));
    }

    /// Whether `step` reads what they write, or writes what they touch.
    bool conflicts(const Step& step) const {
        for (std::size_t i = 0; i < step.arguments.size(); ++i) {
            const int tensor = memory_of(step.arguments[i]);
            if (written_.contains(tensor) || (writes(step, i) && read_.contains(tensor)))
                return true;
        }
        return false;
    }

  private:
    bool writes(const Step& step, std::size_t argument) const {
        return (*kernels_)[std::size_t(step.kernel)].buffers[argument].written;
    }
    /// A state has that of its old value.
    int memory_of(int tensor) const {
        const int over = (*tensors_)[std::size_t(tensor)].over;
        return over >= 0 ? over : tensor;
    }

    const std::vector<Tensor>* tensors_;
    const std::vector<kernel::Kernel>* kernels_;
    std::set<int> read_, written_;
};

/// Moves the steps of one phase from `steps` to the end of `ordered`.
void take_phase(std::vector<Step>& steps, int phase, const Touched& nothing,
                std::vector<Step>& ordered, int passed_over) {
    Touched inside = nothing, waiting = nothing;
    std::vector<Step> later;
    for (Step& step : steps) {
        const bool looks = later.size() < std::size_t(passed_over);
        if (looks && !inside.conflicts(step) && !waiting.conflicts(step)) {
            inside.add(step);
            step.phase = phase;
            ordered.push_back(std::move(step));
        } else {
            if (looks) waiting.add(step);
            later.push_back(std::move(step));
        }
    }
    steps = std::move(later);
}

void order_by_phase(std::vector<Step>& steps, const Touched& nothing, int passed_over) {
    std::vector<Step> ordered;
    ordered.reserve(steps.size());
    for (int phase = 0; !steps.empty(); ++phase)
        take_phase(steps, phase, nothing, ordered, passed_over);
    steps = std::move(ordered);
}

}  // namespace

void form_phases(Program& program, const std::vector<kernel::Kernel>& kernels, int passed_over) {
    const Touched nothing(program.tensors, kernels);
    order_by_phase(program.prepare, nothing, passed_over);
    order_by_phase(program.steps, nothing, passed_over);
}

}  // namespace fovea::plan
