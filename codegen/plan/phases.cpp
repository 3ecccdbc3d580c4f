#include "codegen/plan/phases.h"

#include <set>

namespace fovea::plan {

namespace {

/// The tensors that the steps of a phase read and write.
struct Touched {
    std::set<int> read, written;

    bool conflicts(int tensor, bool writes) const {
        return written.contains(tensor) || (writes && read.contains(tensor));
    }
};

void set_phases(std::vector<Step>& steps, const std::vector<kernel::Kernel>& kernels) {
    Touched touched;
    int phase = 0;
    for (Step& step : steps) {
        const std::vector<kernel::Buffer>& buffers = kernels[std::size_t(step.kernel)].buffers;
        for (std::size_t i = 0; i < step.arguments.size(); ++i)
            if (touched.conflicts(step.arguments[i], buffers[i].written)) {
                touched = {};
                ++phase;
            }
        for (std::size_t i = 0; i < step.arguments.size(); ++i)
            (buffers[i].written ? touched.written : touched.read).insert(step.arguments[i]);
        step.phase = phase;
    }
}

}  // namespace

void set_phases(Program& program, const std::vector<kernel::Kernel>& kernels) {
    set_phases(program.prepare, kernels);
    set_phases(program.steps, kernels);
}

}  // namespace fovea::plan
