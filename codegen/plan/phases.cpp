#include "codegen/plan/phases.h"

#include <set>

namespace fovea::plan {

namespace {

/// The tensors that some steps read and write.
class Touched {
  public:
    Touched(const std::vector<Tensor>& tensors, const std::vector<kernel::Kernel>& kernels)
        : tensors_(&tensors), kernels_(&kernels) {}

    /// Of `all` it touches, or of what all threads share.
    void add(const Step& step, bool all = true) {
        for (std::size_t i = 0; i < step.arguments.size(); ++i)
            if (all || !(*tensors_)[std::size_t(step.arguments[i])].replicated)
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

class Phases {
  public:
    Phases(std::vector<Step>& steps, const Touched& nothing, int passed_over)
        : steps_(steps), nothing_(nothing), passed_over_(std::size_t(passed_over)) {}

    void run() {
        ordered_.reserve(steps_.size());
        for (int phase = 0; !steps_.empty(); ++phase) take_phase(phase);
        steps_ = std::move(ordered_);
    }

  private:
    /// The first round takes some; later ones those that wait for replicated steps alone.
    void take_phase(int phase) {
        Touched shared = nothing_;
        std::size_t before = 0;
        for (int round = 0; before != steps_.size(); ++round) {
            before = steps_.size();
            take_round(phase, round, shared);
        }
    }
    /// Moves the steps of one round from `steps_` to the end of `ordered_`. `shared` is what those
    /// of the phase touch that all threads have.
    void take_round(int phase, int round, Touched& shared) {
        Touched inside = nothing_, waiting = nothing_;
        std::vector<Step> later;
        for (Step& step : steps_) {
            const bool looks = later.size() < passed_over_;
            if (looks && !inside.conflicts(step) && !shared.conflicts(step) &&
                !waiting.conflicts(step)) {
                inside.add(step);
                step.phase = phase;
                step.round = round;
                ordered_.push_back(std::move(step));
            } else {
                if (looks) waiting.add(step);
                later.push_back(std::move(step));
            }
        }
        for (std::size_t i = ordered_.size() - (steps_.size() - later.size()); i < ordered_.size();
             ++i)
            shared.add(ordered_[i], false);
        steps_ = std::move(later);
    }

    std::vector<Step>& steps_;
    const Touched& nothing_;
    const std::size_t passed_over_;
    std::vector<Step> ordered_;
};

}  // namespace

void form_phases(Program& program, const std::vector<kernel::Kernel>& kernels, int passed_over) {
    const Touched nothing(program.tensors, kernels);
    Phases(program.prepare, nothing, passed_over).run();
    Phases(program.steps, nothing, passed_over).run();
}

}  // namespace fovea::plan
