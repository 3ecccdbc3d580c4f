#include "codegen/plan/write_in_place.h"

#include <algorithm>

#include "codegen/kernel/analysis/in_place.h"

namespace fovea::plan {

namespace {

class InPlace {
  public:
    InPlace(Program& program, const std::vector<kernel::Kernel>& kernels)
        : program_(program), kernels_(kernels), covered_(program.tensors.size(), false) {}

    void run() {
        for (const Step& step : program_.steps)
            for (const int tensor : step.arguments)
                if (is_written_first(tensor, step)) place(tensor, step);
    }

  private:
    Tensor& tensor(int number) { return program_.tensors[std::size_t(number)]; }
    bool is_written_first(int number, const Step& step) {
        const Tensor& own = tensor(number);
        return own.role == Role::buffer && !own.replicated && own.first == step.phase &&
               touches_once(number, step);
    }
    /// Whether the step alone has the tensor in its phase, and has it once.
    bool touches_once(int number, const Step& step) const {
        for (const Step& other : program_.steps)
            if (other.phase == step.phase &&
                std::ranges::count(other.arguments, number) != (&other == &step ? 1 : 0))
                return false;
        return true;
    }
    void place(int number, const Step& step) {
        const auto buffer_of = [&](int argument) {
            return int(std::ranges::find(step.arguments, argument) - step.arguments.begin());
        };
        for (const int other : step.arguments) {
            const Tensor& under = tensor(other);
            const bool fits = other < number && under.role == Role::buffer && !under.replicated &&
                              !covered_[std::size_t(other)] && under.checks.empty() &&
                              under.last == step.phase && under.first < step.phase &&
                              under.dtype == tensor(number).dtype &&
                              under.shape == tensor(number).shape && touches_once(other, step);
            if (!fits || !kernel::may_lie_over(kernels_[std::size_t(step.kernel)],
                                               buffer_of(number), buffer_of(other)))
                continue;
            tensor(number).over = other;
            covered_[std::size_t(other)] = true;
            return;
        }
    }

    Program& program_;
    const std::vector<kernel::Kernel>& kernels_;
    std::vector<bool> covered_;  // something lies over it
};

}  // namespace

void write_in_place(Program& program, const std::vector<kernel::Kernel>& kernels) {
    InPlace(program, kernels).run();
}

}  // namespace fovea::plan
