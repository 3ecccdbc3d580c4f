#include "codegen/plan/lifetimes.h"

#include "codegen/base/error.h"

namespace fovea::plan {

namespace {

void touch(Program& program, const kernel::Kernel& kernel, const Step& step, int time,
           std::vector<bool>& written) {
    for (bool writes : {false, true})
        for (std::size_t i = 0; i < step.arguments.size(); ++i) {
            if (kernel.buffers[i].written != writes) continue;
            std::size_t at = std::size_t(step.arguments[i]);
            Tensor& tensor = program.tensors[at];
            const bool own = tensor.role == Role::buffer || tensor.role == Role::prepared;
            if (!own && tensor.role != Role::output) continue;
            if (own && !writes && !written[at])
                throw InternalError("plan: " + step.name + " reads " + tensor.name +
                                    " before anything wrote it");
            if (writes && !written[at]) tensor.first = time;
            tensor.last = time;
            written[at] = true;
        }
}

}  // namespace

void set_lifetimes(Program& program, const std::vector<kernel::Kernel>& kernels) {
    std::vector<bool> written(program.tensors.size(), false);
    for (const Step& step : program.prepare)
        touch(program, kernels[std::size_t(step.kernel)], step, 0, written);
    for (const Step& step : program.steps)
        touch(program, kernels[std::size_t(step.kernel)], step, step.phase, written);
    if (program.steps.empty()) return;
    for (Tensor& tensor : program.tensors)  // what is read after the run
        if (tensor.role == Role::buffer && !tensor.checks.empty())
            tensor.last = program.steps.back().phase;
}

}  // namespace fovea::plan
