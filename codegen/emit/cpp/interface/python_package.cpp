// Text of a Python package: tables of what the library takes, and methods with names and shapes.
#include "codegen/emit/cpp/interface/python_package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "codegen/emit/cpp/program_text.h"
#include "codegen/kernel/print.h"

namespace fovea::emit {
namespace {

constexpr std::string_view kPythonKeywords[] = {
    "False", "None",  "True",   "and",      "as",      "assert", "async",  "await",
    "def",   "del",   "elif",   "except",   "finally", "from",   "global", "import",
    "in",    "is",    "lambda", "nonlocal", "not",     "or",     "pass",   "raise",
    "with",  "yield", "self",   "sizes",    "out",     "draw",   "seed",   "learning_rate",
    "clip"};

std::string python_name(const std::string& name) {
    const bool is_taken = std::ranges::find(kPythonKeywords, name) != std::end(kPythonKeywords);
    if (name[0] == '_') return "x" + name;  // no field of a named tuple starts so
    return is_taken ? name + "_" : name;
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

std::string library_text(const Interface& interface) {
    std::string text = fmt::format(
        "_LIBRARY = _fovea.Library(\n    os.path.dirname(__file__), {},\n    dims={},\n"
        "    sizes={},\n    parameters={{\n",
        quoted(interface.name), names_tuple(interface.dims, *interface.model),
        names_tuple(interface.sizes, *interface.model));
    for (const plan::Tensor& parameter : interface.model->parameters)
        text +=
            fmt::format("        {}: {},\n", quoted(parameter.name), shape_tuple(parameter.shape));
    text += "    },\n    programs={\n";
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
std::string arguments_of(const InterfaceProgram& program, std::string_view type) {
    std::string text;
    for (const InterfaceTensor& input : program.inputs)
        text += ", " + python_name(input.name) + std::string(type);
    return text;
}

std::string arrays_of(const InterfaceProgram& program) {
    std::vector<std::string> entries;
    for (const InterfaceTensor& input : program.inputs)
        entries.push_back(quoted(input.tensor->name) + ": " + python_name(input.name));
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
    for (const InterfaceTensor& output : program.outputs)
        fields.push_back(quoted(python_name(output.name)));
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
        python_name(program.method), arguments_of(program, ""), draw, signature(program),
        quoted(program.program->name), arrays_of(program), program.draws ? ", draw" : "",
        program.type);
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
            "again.\"\"\"\n        _LIBRARY.call(\"reset\", self._handle)\n\n";
    for (const InterfaceProgram& program : interface.training)
        text += fmt::format(
            "\nclass Trainer(_fovea.Trainer):\n    __doc__ = _fovea.Trainer.__doc__\n"
            "    _library = _LIBRARY\n\n"
            "    def step(self{0}, *, learning_rate, clip=0.0, seed=0, sizes=None):\n"
            "        \"\"\"{1}\"\"\"\n"
            "        found = self._step({2}, sizes, learning_rate, clip, seed)\n"
            "        return StepOutputs(*found.values())\n\n",
            arguments_of(program, ""), signature(program), arrays_of(program));
    text +=
        "\ndef torch_module(model=None, threads=0):\n    \"\"\"A torch.nn.Module over the "
        "parameters of `model` (by default drawn with seed 0), whose backward\n    pass is "
        "fovea's. It needs a package that was generated with --training.\"\"\"\n"
        "    from . import _torch\n"
        "    return _torch.Module(Session(model or Model.random(), threads))\n"
        "\n\ndef jax_function(model=None, threads=0):\n    \"\"\"A function of JAX with the "
        "gradient of fovea: `f(*inputs)`, or `f(parameters, *inputs)` with a\n    dict by name. It "
        "needs a package that was generated with --training.\"\"\"\n"
        "    from . import _jax\n"
        "    return _jax.function(Session(model or Model.random(), threads))\n";
    return text;
}

std::string stub_text(const Interface& interface) {
    std::string text =
        "from collections.abc import Mapping\nfrom typing import Any, NamedTuple\n\n"
        "import numpy as np\n\nArray = Any  # of numpy, PyTorch, or with __dlpack__\n\n"
        "class Error(ValueError): ...\n\n";
    for (const auto* programs : {&interface.programs, &interface.training})
        for (const InterfaceProgram& program : *programs) {
            text += fmt::format("class {}Outputs(NamedTuple):\n", program.type);
            for (const InterfaceTensor& output : program.outputs)
                text +=
                    fmt::format("    {}: Array  # {} {}\n", python_name(output.name),
                                type_of(*output.tensor), kernel::shape_text(output.tensor->shape));
            if (programs == &interface.training)
                text += "    gradient_norm: float\n    moved: bool\n";
            else if (program.outputs.empty()) text += "    ...\n";
            text += "\n";
        }
    text +=
        "class Model:\n    @classmethod\n    def load(cls, file: str) -> Model: ...\n"
        "    @classmethod\n    def random(cls, seed: int = 0";
    for (const InterfaceDim& size : interface.sizes) text += ", *, " + size.name + ": int";
    text +=
        ") -> Model: ...\n    def save(self, file: str) -> None: ...\n    @property\n"
        "    def sizes(self) -> dict[str, int]: ...\n"
        "    def parameter(self, name: str) -> np.ndarray: ...\n"
        "    def parameters(self) -> dict[str, np.ndarray]: ...\n"
        "    def changed(self) -> None: ...\n\n"
        "class Session:\n    def __init__(self, model: Model, threads: int = 0) -> None: ...\n";
    const auto remarks = [](const InterfaceProgram& program) {
        std::string lines;
        for (const InterfaceTensor& input : program.inputs)
            lines += fmt::format("        {}: Array,  # {} {}\n", python_name(input.name),
                                 type_of(*input.tensor), kernel::shape_text(input.tensor->shape));
        return lines;
    };
    for (const InterfaceProgram& program : interface.programs)
        text += fmt::format(
            "    def {}(\n        self,\n{}        *,\n        sizes: Mapping[str, int] | None = "
            "None,\n        out: Mapping[str, Array] | None = None,\n{}    ) -> {}Outputs: ...\n",
            python_name(program.method), remarks(program),
            program.draws ? "        draw: tuple[int, int] = (0, 0),\n" : "", program.type);
    if (interface.has_states()) text += "    def reset(self) -> None: ...\n";
    for (const InterfaceProgram& program : interface.training)
        text += fmt::format(
            "\nclass Trainer:\n    def __init__(self, model: Model, optimizer: str = \"adam\", "
            "threads: int = 0, **numbers: float) -> None: ...\n    def step(\n        self,\n{}"
            "        *,\n        learning_rate: float,\n        clip: float = 0.0,\n        seed: "
            "int = 0,\n        sizes: Mapping[str, int] | None = None,\n    ) -> StepOutputs: "
            "...\n",
            remarks(program));
    for (const char* wrapper : {"torch_module", "jax_function"})
        text += fmt::format("\ndef {}(model: Model | None = None, threads: int = 0) -> Any: ...\n",
                            wrapper);
    return text;
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
