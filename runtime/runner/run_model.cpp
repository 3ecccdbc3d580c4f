// The steps of `run`, and what it says about inputs that do not fit.
#include "run_model.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "../error.h"
#include "../files/weights_format.h"
#include "../load_parameters.h"
#include "../memory/shape.h"
#include "../options.h"
#include "../weights/weight_tensors.h"
#include "../weights/weights_in_file.h"
#include "bind_dims.h"

namespace fovea::runtime {
namespace {

constexpr std::string_view kGradientSuffix = ".grad";

bool is_gradient(std::string_view name) { return name.ends_with(kGradientSuffix); }

const Program* program_named(const Model& model, const std::string& name) {
    for (const Program& program : model.programs) {
        if (program.name == name) return &program;
    }
    return nullptr;
}

std::vector<std::string> output_names(const Program& program) {
    std::vector<std::string> names;
    for (const TensorSpec& spec : program.outputs) names.push_back(spec.name);
    return names;
}

/// Whether an input is the gradient of an output, from which the backward pass starts.
bool is_cotangent(const Program& program, const TensorSpec& input) {
    if (!is_gradient(input.name)) return false;
    const std::string output = input.name.substr(0, input.name.size() - kGradientSuffix.size());
    return std::any_of(program.outputs.begin(), program.outputs.end(),
                       [&](const TensorSpec& spec) { return spec.name == output; });
}

std::vector<bool> needed_inputs(const Program& program, const std::vector<bool>& wanted) {
    std::vector<bool> needed(program.inputs.size(), program.needs.empty());
    for (std::size_t output = 0; output < program.needs.size(); ++output) {
        if (!wanted[output]) continue;
        for (int input : program.needs[output]) needed[static_cast<std::size_t>(input)] = true;
    }
    return needed;
}

void verify_cotangents(const Program& program, const SafetensorsFile& inputs) {
    std::string names;
    for (const TensorSpec& spec : program.inputs) {
        if (!is_cotangent(program, spec)) continue;
        if (inputs.find(spec.name)) return;
        names += (names.empty() ? "'" : ", '") + spec.name + "'";
    }
    if (names.empty()) return;
    throw UserError(
        "gradients need a model with a loss, or the gradient of an output among the inputs: '{}' "
        "has none of {}",
        {inputs.path(), names});
}

/// Dims that only absent, unneeded inputs mention can have any size; one is the least.
void bind_unneeded_dims(const Model& model, const Program& program, const std::vector<bool>& needed,
                        const SafetensorsFile& inputs, DimValues& dims) {
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        const TensorSpec& spec = program.inputs[i];
        if (needed[i] || inputs.find(spec.name)) continue;
        for (const Extent& extent : spec.shape) {
            for (const Extent::Term& term : extent.terms()) {
                for (int dim : term.dims) {
                    dims.try_emplace(model.dims[static_cast<std::size_t>(dim)], 1);
                }
            }
        }
    }
}

/// Absent inputs are reported before the dims that they would have bound.
void verify_present(const Program& program, const std::vector<bool>& needed,
                    const SafetensorsFile& inputs) {
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        const TensorSpec& spec = program.inputs[i];
        if (!needed[i] || spec.state || is_cotangent(program, spec) || inputs.find(spec.name))
            continue;
        throw UserError("'{}' lacks the input '{}'", {inputs.path(), spec.name});
    }
}

}  // namespace

const Program& choose_program(const Model& model, const RunRequest& request) {
    const std::string name = request.gradients ? "gradient" : "forward";
    if (request.train) {
        if (const Program* program = program_named(model, name + "_train")) return *program;
    }
    if (const Program* program = program_named(model, name)) return *program;
    throw UserError("this program was built without '{}' of {}", {name, model.name});
}

std::vector<bool> wanted_outputs(const Program& program, const RunRequest& request) {
    const std::vector<std::string> names = output_names(program);
    std::vector<bool> wanted(names.size(), request.only.empty());
    bool names_gradients = false;
    for (const std::string& name : request.only) {
        const auto place = std::find(names.begin(), names.end(), name);
        if (place == names.end()) {
            throw UserError("'{}' is no output{}", {name, suggestion(name, names)});
        }
        wanted[static_cast<std::size_t>(place - names.begin())] = true;
        names_gradients = names_gradients || is_gradient(name);
    }
    for (std::size_t i = 0; request.gradients && !names_gradients && i < names.size(); ++i) {
        if (is_gradient(names[i])) wanted[i] = true;
    }
    return wanted;
}

void fill_inputs(Instance& instance, const SafetensorsFile& inputs,
                 const std::vector<bool>& wanted) {
    const Program& program = instance.program();
    const std::vector<bool> needed = needed_inputs(program, wanted);
    verify_present(program, needed, inputs);
    verify_cotangents(program, inputs);
    for (const TensorSpec& spec : program.inputs) {
        const auto shape = instance.shape_of(spec);
        void* address = instance.input<void>(spec.name);
        if (const TensorView* tensor = inputs.find(spec.name)) {
            copy_tensor(inputs, *tensor, "input", spec.dtype, shape, address);
        } else {
            std::memset(address, 0,
                        static_cast<std::size_t>(element_count(shape)) * size_of(spec.dtype));
        }
    }
}

std::vector<TensorView> output_tensors(Instance& instance, const std::vector<bool>& wanted) {
    std::vector<TensorView> tensors;
    const Program& program = instance.program();
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
        if (!wanted[i]) continue;
        const TensorSpec& spec = program.outputs[i];
        TensorView tensor;
        tensor.name = spec.name;
        tensor.dtype = safetensors_name(spec.dtype);
        tensor.shape = instance.shape_of(spec);
        const auto bytes =
            static_cast<std::size_t>(element_count(tensor.shape)) * size_of(spec.dtype);
        tensor.bytes = {instance.output<std::byte>(spec.name), bytes};
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

DimValues verify_run(const Model& model, const RunRequest& request, const SafetensorsFile& inputs,
                     const SafetensorsFile* weights) {
    const Program& program = choose_program(model, request);
    const std::vector<bool> wanted = wanted_outputs(program, request);
    const std::vector<bool> needed = needed_inputs(program, wanted);
    verify_present(program, needed, inputs);
    verify_cotangents(program, inputs);
    if (!weights && !model.parameters.empty()) {
        throw UserError("{} has {} parameters ('{}', …); give them with --weights FILE",
                        {model.name, model.parameters.size(), model.parameters.front().name});
    }
    if (weights) {
        verify_weights_format(*weights);
        verify_storage(model, *weights);
    }
    DimValues dims = bind_dims(model, program, inputs, weights);
    bind_unneeded_dims(model, program, needed, inputs, dims);

    // Missing parameters are reported before the dims that they would have bound.
    for (std::size_t i = 0; i < model.parameters.size(); ++i) {
        if (find_parameter(model, i, *weights)) continue;
        throw UserError("'{}' lacks parameter '{}' of {}",
                        {weights->path(), model.parameters[i].name, model.name});
    }
    return dims;
}

void run_model(const Model& model, const RunRequest& request, const SafetensorsFile& inputs,
               const SafetensorsFile* weights, const std::string& output_path) {
    const DimValues dims = verify_run(model, request, inputs, weights);
    const Program& program = choose_program(model, request);
    const std::vector<bool> wanted = wanted_outputs(program, request);
    Parameters parameters(model, dims);
    std::shared_ptr<const WeightsInFile> in_file;
    if (weights && model.file_weights && !request.gradients)
        in_file = model.file_weights->take(parameters, *weights);
    else if (weights) load_parameters(parameters, *weights);
    Instance instance(model, program.name, parameters);
    instance.bind(dims);
    fill_inputs(instance, inputs, wanted);

    warn_unused(inputs, model.name,
                [&](const std::string& name) { return instance.has_input(name); });
    instance.run(request.seed, request.step);
    write_safetensors(output_path, output_tensors(instance, wanted));
}

}  // namespace fovea::runtime
