// Loads a model's module, and gives its programs what makes their executors.
#include "on_device.h"

#include <algorithm>

#include "../error.h"
#include "program_executor.h"
#include "training.h"

namespace fovea::runtime::device {
namespace {

/// The module that suits the device best.
const Module& find_best(const Device& device, const Code& code, const Model& model) {
    std::vector<std::string> architectures;
    for (const Module& module : code.modules) architectures.push_back(module.architecture);
    const std::string best = device.choose(architectures);
    for (const Module& module : code.modules)
        if (module.architecture == best) return module;
    std::string list;
    for (const std::string& name : architectures) list += (list.empty() ? "" : ", ") + name;
    throw UserError("the kernels of " + model.name + " are for " +
                    (list.empty() ? "no device" : list) + ", which " + device.name() +
                    " does not run");
}

const Steps& steps_of(const Code& code, const Program& program, const Model& model) {
    for (const Steps& steps : code.programs)
        if (steps.program == program.name) return steps;
    throw UserError("the program '" + program.name + "' of " + model.name +
                    " has no kernels for a device");
}

bool trains(const Code& code, const Program& program, const Model& model) {
    return program.name == "training_step" && !why_not_trainable(code, program, model);
}

/// The model with the buffers and kernels that its programs have there.
Model with_steps(const Model& model, const Code& code, const Module& module) {
    Model result = model;
    for (Program& program : result.programs) {
        const Steps& steps = steps_of(code, program, model);
        program.buffers = steps.buffers;
        program.shards = {};
        program.kernels.clear();
        for (const Step& step : steps.steps)
            program.kernels.push_back(module.kernels[static_cast<std::size_t>(step.kernel)].name);
        if (!trains(code, program, model)) continue;
        for (std::string& kernel : update_kernels(code, module))
            program.kernels.push_back(std::move(kernel));
    }
    return result;
}

}  // namespace

Model on_device(const Model& model, std::shared_ptr<Device> device,
                std::shared_ptr<const Code> code) {
    if (code->dims.size() < model.dims.size() ||
        !std::equal(model.dims.begin(), model.dims.end(), code->dims.begin()))
        throw InternalError("the kernels for devices are not those of " + model.name);
    auto shared = std::make_shared<Shared>();
    shared->device = std::move(device);
    shared->code = std::move(code);
    shared->module = &find_best(*shared->device, *shared->code, model);
    shared->module_number = shared->device->load(shared->module->text);
    shared->model = std::make_shared<Model>(with_steps(model, *shared->code, *shared->module));
    Model result = *shared->model;
    for (std::size_t i = 0; i < result.programs.size(); ++i) {
        const Program* program = &shared->model->programs[i];
        const Steps* steps = &steps_of(*shared->code, *program, model);
        auto* const make =
            trains(*shared->code, *program, model) ? make_training_executor : make_executor;
        result.programs[i].executor = [=] { return make(shared, *program, *steps); };
    }
    return result;
}

}  // namespace fovea::runtime::device
