// Chooses names, and leaves out what a session keeps for itself.
#include "codegen/emit/cpp/interface/interface.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "codegen/base/room.h"
#include "codegen/emit/cpp/model_text.h"
#include "codegen/emit/cpp/names.h"
#include "codegen/kernel/print.h"

namespace fovea::emit {
namespace {

/// Names that the header and its classes have for themselves, in C behind the model's name.
const std::set<std::string> kTaken = {"Dims",
                                      "Model",
                                      "Session",
                                      "Sizes",
                                      "Step",
                                      "Trainer",
                                      "c_version",
                                      "dims",
                                      "draw",
                                      "free_session",
                                      "free_trainer",
                                      "free_weights",
                                      "get_sizes",
                                      "inputs",
                                      "load",
                                      "memory",
                                      "model",
                                      "new_session",
                                      "new_trainer",
                                      "options",
                                      "outcome",
                                      "outputs",
                                      "parameter",
                                      "random",
                                      "parameters_changed",
                                      "reset",
                                      "save",
                                      "session",
                                      "set_parameter",
                                      "sizes",
                                      "step",
                                      "step_bytes",
                                      "trainer",
                                      "trainer_use_threads",
                                      "use_threads",
                                      "use_workspace",
                                      "values",
                                      "weights"};

/// `decode_step` as `DecodeStep`.
std::string type_name(const std::string& method) {
    std::string type;
    bool starts = true;
    for (const char c : method) {
        if (c == '_') {
            starts = true;
            continue;
        }
        type += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        starts = false;
    }
    return type;
}

using Names = std::set<std::string>;

Names names_of_states(const plan::Program& program) {
    Names names;
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.role == plan::Role::input && tensor.state) names.insert(tensor.name);
    return names;
}

bool makes(const plan::Tensor& tensor, const Names& states) {
    return tensor.role == plan::Role::output && !tensor.state && states.contains(tensor.name);
}

/// Its tensors are the trainer's.
bool is_training(const plan::Program& program) { return program.name == "training_step"; }

/// The program whose states another one makes, such as the prompt's for a step; null: none.
const plan::Program* started_by(const plan::Program& program, const plan::Model& model) {
    for (const plan::Program& other : model.programs) {
        if (is_training(other) || is_training(program)) continue;
        const Names states = names_of_states(other);
        if (&other != &program && std::ranges::any_of(program.tensors, [&](const auto& tensor) {
                return makes(tensor, states);
            }))
            return &other;
    }
    return nullptr;
}

std::vector<InterfaceTensor> tensors_of(const plan::Program& program, plan::Role role,
                                        const Names& hidden) {
    std::set<std::string> taken = {"View", "int32_t", "int64_t", "outcome", "restrict", "uint8_t"};
    std::vector<InterfaceTensor> tensors;
    std::vector<std::string> names;
    for (const plan::Tensor& tensor : program.tensors) {
        if (tensor.role != role || tensor.state || makes(tensor, hidden)) continue;
        tensors.push_back({"", &tensor, int(tensors.size())});
        names.push_back(tensor.name);
    }
    const std::vector<std::string> fields = fresh_fields(taken, names);
    for (std::size_t i = 0; i < fields.size(); ++i) tensors[i].name = fields[i];
    return tensors;
}

InterfaceProgram program_of(const plan::Program& program, const Names& states_made, Names& methods,
                            Names& types) {
    const std::string method = fresh_field(methods, program.name);
    InterfaceProgram result{&program, method, fresh_field(types, type_name(method)),
                            tensors_of(program, plan::Role::input, states_made),
                            tensors_of(program, plan::Role::output, states_made)};
    for (const plan::Tensor& tensor : program.tensors)
        if (makes(tensor, states_made)) result.hidden.push_back(&tensor);
    result.bytes = fresh_field(methods, method + "_bytes");
    result.draws = std::ranges::any_of(program.steps,
                                       [](const plan::Step& step) { return !step.sites.empty(); });
    result.has_states = !names_of_states(program).empty();
    return result;
}

std::set<std::string> symbols_of_parameters(const plan::Model& model) {
    std::set<std::string> symbols;
    for (const plan::Tensor& tensor : model.parameters) add_symbols(symbols, tensor.shape);
    return symbols;
}

/// Gradients of a training step are the trainer's; what else it computes is shown.
void leave_out_gradients(InterfaceProgram& training, const plan::Model& model) {
    std::set<std::string> gradients;
    for (const plan::Tensor& tensor : model.parameters) gradients.insert(tensor.name + ".grad");
    std::erase_if(training.outputs, [&](const InterfaceTensor& output) {
        return gradients.contains(output.tensor->name);
    });
}

}  // namespace

void add_symbols(std::set<std::string>& symbols, const std::vector<Dim>& shape) {
    for (const Dim& dim : shape)
        dim.each_symbol([&](const Symbol& symbol) {
            Text name;
            name << symbol;
            if (!is_room_of_window(name.view())) symbols.emplace(name.view());
        });
}

std::string InterfaceTensor::remark() const {
    const std::string shape = kernel::shape_text(tensor->shape);
    return tensor->name == name ? shape : tensor->name + " " + shape;
}

bool Interface::has_states() const {
    return std::ranges::any_of(programs, &InterfaceProgram::has_states);
}

Interface interface_of(const plan::Model& model) {
    Interface result;
    result.name = model_identifier(model);
    result.source = model.source;
    result.model = &model;
    const std::set<std::string> of_parameters = symbols_of_parameters(model);
    std::set<std::string> taken = {"int64_t", "restrict"}, methods = kTaken, types = kTaken;
    const std::vector<std::string> fields = fresh_fields(taken, model.dims);
    for (std::size_t i = 0; i < model.dims.size(); ++i) {
        if (is_room_of_window(model.dims[i])) continue;
        (of_parameters.contains(model.dims[i]) ? result.sizes : result.dims)
            .push_back({fields[i], int(i)});
    }
    for (const plan::Program& program : model.programs) {
        const plan::Program* started = started_by(program, model);
        InterfaceProgram seen =
            program_of(program, started ? names_of_states(*started) : Names{}, methods, types);
        if (is_training(program)) {
            seen.type = "Step";
            leave_out_gradients(seen, model);
        }
        (is_training(program) ? result.training : result.programs).push_back(std::move(seen));
    }
    for (InterfaceProgram& program : result.programs)
        if (const plan::Program* started = started_by(*program.program, model))
            program.starts =
                std::ranges::find(result.programs, started, &InterfaceProgram::program)->method;
    return result;
}

std::string c_type(const plan::Tensor& tensor) {
    switch (tensor.dtype) {
        case DType::f32: return "float";
        case DType::i32: return "int32_t";
        case DType::boolean: return "uint8_t";
        default: return "uint16_t";  // the bits of bfloat16 or float16
    }
}

}  // namespace fovea::emit
