// Text of a Python package: tables of what the library takes, and methods with names and shapes.
#include "codegen/emit/cpp/interface/python_package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "codegen/emit/cpp/interface/python_names.h"
#include "codegen/emit/cpp/program_description.h"
#include "codegen/kernel/print.h"

namespace fovea::emit {
namespace {

std::vector<std::string> names_of(const std::vector<InterfaceTensor>& tensors,
                                  const std::set<std::string>& taken) {
    std::vector<std::string> names;
    for (const InterfaceTensor& tensor : tensors) names.push_back(tensor.name);
    return python_names(names, taken);
}

/// Arguments of the method, which reads the type of its results beside them.
std::vector<std::string> argument_names(const InterfaceProgram& program) {
    return names_of(program.inputs, {program.type + "Outputs"});
}

std::vector<std::string> field_names(const InterfaceProgram& program) {
    const bool is_step = program.program->name == "training_step";
    return names_of(program.outputs, is_step ? std::set<std::string>{"gradient_norm", "moved"}
                                             : std::set<std::string>{});
}

std::string method_of(const InterfaceProgram& program) {
    return python_names({program.method}).front();
}

/// `("batch", "2*len", 8)`
std::string shape_tuple(const std::vector<Dim>& shape) {
    std::string text;
    for (const Dim& dim : shape)
        text +=
            (dim.is_static() ? std::to_string(dim.value()) : quoted(kernel::text_of(dim))) + ", ";
    if (shape.size() != 1 && !text.empty()) text.resize(text.size() - 2);
    else if (!text.empty()) text.resize(text.size() - 1);
    return "(" + text + ")";
}

std::string type_of(const plan::Tensor& tensor) {
    return tensor.dtype == DType::boolean ? "bool" : std::string(name_of(tensor.dtype));
}

void write_tensors(const std::vector<InterfaceTensor>& tensors, std::string& text) {
    for (const InterfaceTensor& tensor : tensors)
        text += fmt::format("                {}: ({}, {}),\n", quoted(tensor.tensor->name),
                            quoted(type_of(*tensor.tensor)), shape_tuple(tensor.tensor->shape));
}

/// `("steps", )`: the sizes of what a session keeps, and of what a program makes for it to keep.
std::string sizes_of_states(const InterfaceProgram& program) {
    std::set<std::string> symbols;
    for (const plan::Tensor& tensor : program.program->tensors)
        if (tensor.role == plan::Role::input && tensor.state) add_symbols(symbols, tensor.shape);
    for (const plan::Tensor* tensor : program.hidden) add_symbols(symbols, tensor->shape);
    std::string text;
    for (const std::string& symbol : symbols) text += quoted(symbol) + ", ";
    return "(" + text + ")";
}

/// By the names that shapes have, and not by those of fields in C.
std::string names_tuple(const std::vector<InterfaceDim>& dims, const plan::Model& model) {
    std::string text;
    for (const InterfaceDim& dim : dims) text += quoted(model.dims[std::size_t(dim.number)]) + ", ";
    return "(" + text + ")";
}

/// `("bn.running_mean", )`: parameters that programs write.
std::string states_tuple(const Interface& interface) {
    const auto is_written = [&](const plan::Tensor& parameter) {
        for (const auto* programs : {&interface.programs, &interface.training})
            for (const InterfaceProgram& program : *programs)
                for (const plan::Tensor& tensor : program.program->tensors)
                    if (tensor.role == plan::Role::output && tensor.state &&
                        tensor.name == parameter.name)
                        return true;
        return false;
    };
    std::string text;
    for (const plan::Tensor& parameter : interface.model->parameters)
        if (is_written(parameter)) text += quoted(parameter.name) + ", ";
    return "(" + text + ")";
}

std::string library_text(const Interface& interface) {
    std::string text = fmt::format(
        "_LIBRARY = _fovea.Library(\n    os.path.dirname(__file__), {},\n    dims={},\n"
        "    sizes={},\n    parameters={{\n",
        quoted(interface.name), names_tuple(interface.dims, *interface.model),
        names_tuple(interface.sizes, *interface.model));
    for (const plan::Tensor& parameter : interface.model->parameters)
        text +=
            fmt::format("        {}: {},\n", quoted(parameter.name), shape_tuple(parameter.shape));
    text += "    },\n    states=" + states_tuple(interface) + ",\n    programs={\n";
    for (const auto* programs : {&interface.programs, &interface.training})
        for (const InterfaceProgram& program : *programs) {
            text += fmt::format("        {}: _fovea.Program(\n            inputs={{\n",
                                quoted(program.program->name));
            write_tensors(program.inputs, text);
            text += "            },\n            outputs={\n";
            write_tensors(program.outputs, text);
            text += fmt::format("            }},\n            draws={}, symbol={}, states={}),\n",
                                program.draws ? "True" : "False", quoted(program.method),
                                sizes_of_states(program));
        }
    return text + "    })\n";
}

/// `x, lens`, each behind a comma.
std::string argument_list(const InterfaceProgram& program) {
    std::string text;
    for (const std::string& name : argument_names(program)) text += ", " + name;
    return text;
}

std::string arrays_of(const InterfaceProgram& program) {
    const std::vector<std::string> names = argument_names(program);
    std::vector<std::string> entries;
    for (std::size_t i = 0; i < names.size(); ++i)
        entries.push_back(quoted(program.inputs[i].tensor->name) + ": " + names[i]);
    return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

/// `x [batch, 8], lens [batch] -> y [batch, 8]`
std::string signature(const InterfaceProgram& program) {
    const auto list = [](const std::vector<InterfaceTensor>& tensors) {
        std::vector<std::string> entries;
        for (const InterfaceTensor& tensor : tensors)
            entries.push_back(tensor.tensor->name + " " + kernel::shape_text(tensor.tensor->shape));
        return fmt::format("{}", fmt::join(entries, ", "));
    };
    return list(program.inputs) + " -> " + list(program.outputs);
}

/// `Forward = collections.namedtuple("Forward", [...])`
std::string tuple_type(const InterfaceProgram& program) {
    std::vector<std::string> fields;
    for (const std::string& name : field_names(program)) fields.push_back(quoted(name));
    if (program.program->name == "training_step")
        fields.insert(fields.end(), {"\"gradient_norm\"", "\"moved\""});
    return fmt::format("{0}Outputs = collections.namedtuple(\"{0}Outputs\", [{1}])\n", program.type,
                       fmt::join(fields, ", "));
}

std::string method_text(const InterfaceProgram& program) {
    const std::string draw = program.draws ? ", draw=(0, 0)" : "";
    return fmt::format(
        "    def {0}(self{1}, *, sizes=None, out=None{2}):\n        \"\"\"{3}\"\"\"\n"
        "        found = self._call({4}, {5}, sizes, out{6})\n"
        "        return {7}Outputs(*found.values())\n\n",
        method_of(program), argument_list(program), draw, signature(program),
        quoted(program.program->name), arrays_of(program), program.draws ? ", draw" : "",
        program.type);
}

/// Whether arguments are called as the model calls its inputs.
bool has_model_names(const InterfaceProgram& program) {
    const std::vector<std::string> names = argument_names(program);
    for (std::size_t i = 0; i < names.size(); ++i)
        if (program.inputs[i].tensor->name != names[i]) return false;
    return true;
}

const InterfaceProgram& forward_of(const Interface& interface) {
    for (const InterfaceProgram& program : interface.programs)
        if (program.program->name == "forward") return program;
    return interface.programs.front();
}

/// The model as what PyTorch and JAX call.
std::string wrappers_text(const Interface& interface) {
    return fmt::format(
        "\ndef torch_module(model=None, threads=0):\n    \"\"\"A torch.nn.Module over the "
        "parameters of `model` (by default drawn with seed 0), whose backward\n    pass is "
        "fovea's. It needs a package that was generated with --training.\"\"\"\n"
        "    from . import _torch\n"
        "    return _torch.Module(_session(model, threads), {0}Outputs)\n"
        "\n\ndef jax_function(model=None, threads=0):\n    \"\"\"A function of JAX with the "
        "gradient of fovea: `f(*inputs)`, or `f(parameters, *inputs)` with a\n    dict by name. It "
        "needs a package that was generated with --training.\"\"\"\n"
        "    from . import _jax\n"
        "    return _jax.function(_session(model, threads), {0}Outputs)\n"
        "\n\ndef _session(model, threads):\n"
        "    return Session(Model.random() if model is None else model, threads)\n",
        forward_of(interface).type);
}

std::string module_text(const Interface& interface) {
    std::string text = fmt::format(
        "\"\"\"The model {0}, generated by fovea.\n\nArrays of numpy, PyTorch and all that speak "
        "DLPack are read and written where they lie; outputs are\nof the kind of the first input, "
        "or are those in `out`. Sizes follow from the arrays.\n\"\"\"\n\nimport "
        "collections\nimport "
        "os\n\nfrom . import _fovea\nfrom ._fovea import Error\n\n",
        interface.name);
    text += library_text(interface) + "\n";
    for (const auto* programs : {&interface.programs, &interface.training})
        for (const InterfaceProgram& program : *programs) text += tuple_type(program);
    text +=
        "\n\nclass Model(_fovea.Model):\n    __doc__ = _fovea.Model.__doc__\n"
        "    _library = _LIBRARY\n\n\n"
        "class Session(_fovea.Session):\n    __doc__ = _fovea.Session.__doc__\n"
        "    _library = _LIBRARY\n\n";
    for (const InterfaceProgram& program : interface.programs) text += method_text(program);
    if (interface.has_states())
        text +=
            "    def reset(self):\n        \"\"\"What is kept from call to call is zeros "
            "again.\"\"\"\n        self._reset()\n\n";
    for (const InterfaceProgram& program : interface.training)
        text += fmt::format(
            "\nclass Trainer(_fovea.Trainer):\n    __doc__ = _fovea.Trainer.__doc__\n"
            "    _library = _LIBRARY\n\n"
            "    def step(self{0}, *, learning_rate, clip=0.0, seed=0, sizes=None):\n"
            "        \"\"\"{1}\"\"\"\n"
            "        found = self._step({2}, sizes, learning_rate, clip, seed)\n"
            "        return StepOutputs(*found.values())\n\n",
            argument_list(program), signature(program), arrays_of(program));
    return text + wrappers_text(interface);
}

/// `        x: Array,  # f32 [batch, 8]`, a line each.
std::string argument_lines(const InterfaceProgram& program) {
    const std::vector<std::string> names = argument_names(program);
    std::string lines;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const plan::Tensor& tensor = *program.inputs[i].tensor;
        lines += fmt::format("        {}: Array,  # {} {}\n", names[i], type_of(tensor),
                             kernel::shape_text(tensor.shape));
    }
    return lines;
}

std::string tuple_stub(const InterfaceProgram& program) {
    const std::vector<std::string> names = field_names(program);
    std::string text = fmt::format("class {}Outputs(NamedTuple):\n", program.type);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const plan::Tensor& tensor = *program.outputs[i].tensor;
        text += fmt::format("    {}: Array  # {} {}\n", names[i], type_of(tensor),
                            kernel::shape_text(tensor.shape));
    }
    if (program.program->name == "training_step")
        text += "    gradient_norm: float\n    moved: bool\n";
    else if (program.outputs.empty()) text += "    ...\n";
    return text + "\n";
}

/// Sizes under the names that shapes have, which need be no names of arguments.
std::string size_arguments(const Interface& interface) {
    std::vector<std::string> names;
    for (const InterfaceDim& size : interface.sizes) names.push_back(size.name);
    std::string text;
    for (const InterfaceDim& size : interface.sizes) {
        if (interface.model->dims[std::size_t(size.number)] != size.name ||
            python_names(names) != names)
            return ", **sizes: int";
        text += (text.empty() ? ", *, " : ", ") + size.name + ": int";
    }
    return text;
}

std::string model_stub(const Interface& interface) {
    return "class Model:\n    @classmethod\n    def load(cls, file: str) -> Model: ...\n"
           "    @classmethod\n    def random(cls, seed: int = 0" +
           size_arguments(interface) +
           ") -> Model: ...\n    def save(self, file: str) -> None: ...\n    @property\n"
           "    def sizes(self) -> dict[str, int]: ...\n"
           "    def parameter(self, name: str) -> np.ndarray: ...\n"
           "    def parameters(self) -> dict[str, np.ndarray]: ...\n"
           "    def changed(self) -> None: ...\n\n";
}

std::string session_stub(const Interface& interface) {
    std::string text =
        "class Session:\n    def __init__(self, model: Model, threads: int = 0) -> None: ...\n";
    for (const InterfaceProgram& program : interface.programs)
        text += fmt::format(
            "    def {}(\n        self,\n{}        *,\n        sizes: Mapping[str, int] | None = "
            "None,\n        out: Mapping[str, Array] | None = None,\n{}    ) -> {}Outputs: ...\n",
            method_of(program), argument_lines(program),
            program.draws ? "        draw: tuple[int, int] = (0, 0),\n" : "", program.type);
    if (interface.has_states()) text += "    def reset(self) -> None: ...\n";
    return text;
}

std::string trainer_stub(const InterfaceProgram& program) {
    return fmt::format(
        "\nclass Trainer:\n    def __init__(self, model: Model, optimizer: str = \"adam\", "
        "threads: int = 0, **numbers: float) -> None: ...\n    def step(\n        self,\n{}"
        "        *,\n        learning_rate: float,\n        clip: float = 0.0,\n        seed: "
        "int = 0,\n        sizes: Mapping[str, int] | None = None,\n    ) -> StepOutputs: "
        "...\n",
        argument_lines(program));
}

/// What PyTorch and JAX call. A module takes arguments under the model's names, where they are
/// Python's; the function of JAX by position alone.
std::string wrapper_stubs(const Interface& interface) {
    const InterfaceProgram& forward = forward_of(interface);
    const std::string result = forward.outputs.size() == 1 ? "Array" : forward.type + "Outputs";
    const std::string lines = argument_lines(forward);
    const bool has_parameters = !interface.model->parameters.empty();
    const std::string given =
        (has_parameters ? "        _parameters: Mapping[str, Array],\n" : "") + lines;
    const auto by_position = [](const std::string& list) {
        return list.empty() ? list : list + "        /,\n";
    };
    return fmt::format(
        "\nclass TorchModule(Any):  # a torch.nn.Module\n    def __call__(\n        self,\n{1}"
        "    ) -> {0}: ...\n\nclass JaxFunction(Protocol):\n    def __call__(\n        self,\n{2}"
        "        *,\n        seed: int | None = None,\n    ) -> {0}: ...\n"
        "\ndef torch_module(model: Model | None = None, threads: int = 0) -> TorchModule: ...\n"
        "\ndef jax_function(model: Model | None = None, threads: int = 0) -> JaxFunction: ...\n",
        result, has_model_names(forward) ? lines : by_position(lines), by_position(given));
}

std::string stub_text(const Interface& interface) {
    std::string text =
        "from collections.abc import Mapping\nfrom typing import Any, NamedTuple, Protocol\n\n"
        "import numpy as np\n\nArray = Any  # of numpy, PyTorch, or with __dlpack__\n\n"
        "class Error(ValueError): ...\n\n";
    for (const auto* programs : {&interface.programs, &interface.training})
        for (const InterfaceProgram& program : *programs) text += tuple_stub(program);
    text += model_stub(interface) + session_stub(interface);
    for (const InterfaceProgram& program : interface.training) text += trainer_stub(program);
    return text + wrapper_stubs(interface);
}

}  // namespace

std::vector<File> python_package(const Interface& interface, const std::string& machine) {
    const std::string& name = interface.name;
    const std::string project = fmt::format(
        "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\n"
        "[project]\nname = \"{0}\"\nversion = \"0.1\"\ndescription = \"the model {0}, generated by "
        "fovea\"\nrequires-python = \">=3.9\"\ndependencies = [\"numpy\"]\n\n[tool.setuptools]\n"
        "packages = [\"{0}\"]\n\n[tool.setuptools.package-data]\n{0} = [\"*.so\", \"*.pyi\", "
        "\"py.typed\"]\n",
        name);
    // The library is of one kind of machine, and of no version of Python.
    const std::string wheel = fmt::format("[bdist_wheel]\nplat_name = linux_{}\n", machine);
    return {{"pyproject.toml", project},
            {"setup.cfg", wheel},
            {name + "/__init__.py", module_text(interface)},
            {name + "/__init__.pyi", stub_text(interface)},
            {name + "/py.typed", ""}};
}

std::string exported_symbols(const Interface& interface) {
    return fmt::format("{{ global: {}_*; fovea_error; fovea_default_optimizer; local: *; }};\n",
                       interface.name);
}

}  // namespace fovea::emit
