// The part of a generated header that C++ reads.
#include <fmt/format.h>

#include "codegen/emit/cpp/interface/interface.h"
#include "codegen/emit/cpp/interface/parts.h"
#include "codegen/emit/cpp/writer.h"
#include "codegen/kernel/print.h"

namespace fovea::emit {
namespace {

std::string cpp_type(const plan::Tensor& tensor) {
    const std::string type = c_type(tensor);
    return type == "float" ? type : "std::" + type;
}

std::string result_type(const InterfaceTensor& output) {
    std::string type = cpp_type(*output.tensor);
    if (output.rank() == 0) return type;
    if (output.rank() == 1) return "std::span<const " + type + ">";
    return fmt::format("View<const {}, {}>", type, output.rank());
}

/// How a result is read from `tensors`.
std::string result(const InterfaceTensor& output) {
    const std::string type = cpp_type(*output.tensor);
    if (output.rank() == 0) return fmt::format("tensors.value<{}>({})", type, output.number);
    if (output.rank() == 1) return fmt::format("tensors.row<const {}>({})", type, output.number);
    return fmt::format("tensors.view<const {}, {}>({})", type, output.rank(), output.number);
}

std::string joined(const auto& items, auto each) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ", ") + each(item);
    return text;
}

void write_sizes(const std::string& type, const std::vector<InterfaceDim>& dims, Writer& writer) {
    writer.line("struct " + type + " {");
    writer.indent();
    for (const InterfaceDim& dim : dims) writer.line("std::int64_t " + dim.name + " = 0;");
    writer.unindent();
    writer.line("};");
    writer.blank();
}

void write_model(const Interface& interface, Writer& writer) {
    writer.line(
        "/// The parameters. Copies share them, and sessions on any threads read them; no session "
        "runs");
    writer.line("/// while a trainer moves them. They are:");
    for (const plan::Tensor& parameter : interface.model->parameters)
        writer.line("//   " + parameter.name + " " + kernel::shape_text(parameter.shape) +
                    (parameter.storage  ? ", as " + text_of(parameter.storage)
                     : parameter.frozen ? ", not trained"
                                        : ""));
    writer.line("class Model : public runtime::TypedModel {");
    writer.line("  public:");
    writer.indent();
    writer.line(
        "/// From a safetensors file, by these names. runtime::UserError says what is missing in "
        "it.");
    writer.line("static Model load(const std::string& file) { return {" + interface.name +
                "_model(), file}; }");
    writer.line("/// Drawn as PyTorch draws those of such layers; the same on every machine.");
    const std::string given = joined(interface.sizes, [&](const InterfaceDim& size) {
        return fmt::format("{{\"{}\", sizes.{}}}", interface.model->dims[std::size_t(size.number)],
                           size.name);
    });
    writer.open(interface.sizes.empty()
                    ? "static Model random(std::uint64_t seed)"
                    : "static Model random(const Sizes& sizes, std::uint64_t seed)");
    writer.line("return {" + interface.name + "_model(), runtime::DimValues{" + given +
                "}, seed};");
    writer.close();
    writer.unindent();
    writer.blank();
    writer.line("  private:");
    writer.indent();
    writer.line("using TypedModel::TypedModel;");
    writer.unindent();
    writer.line("};");
    writer.blank();
}

void write_structs(const InterfaceProgram& program, bool is_training, Writer& writer) {
    if (!program.inputs.empty()) {
        writer.line("struct " + program.type + "Inputs {");
        writer.indent();
        for (const InterfaceTensor& input : program.inputs)
            writer.line("std::span<const " + cpp_type(*input.tensor) + "> " + input.name +
                        ";  // " + input.remark());
        writer.unindent();
        writer.line("};");
    }
    if (!program.outputs.empty() || is_training) {
        writer.line("struct " + program.type + "Outputs {");
        writer.indent();
        for (const InterfaceTensor& output : program.outputs)
            writer.line(result_type(output) + " " + output.name + ";  // " + output.remark());
        if (is_training) writer.line("runtime::StepOutcome outcome;");
        writer.unindent();
        writer.line("};");
    }
    if (!program.outputs.empty() && !is_training) {
        writer.line("struct " + program.type + "Memory {");
        writer.indent();
        for (const InterfaceTensor& output : program.outputs)
            writer.line(cpp_type(*output.tensor) + "* " + output.name + " = nullptr;");
        writer.unindent();
        writer.line("};");
    }
    writer.blank();
}

std::string inputs_of(const InterfaceProgram& program) {
    return joined(program.inputs,
                  [](const InterfaceTensor& input) { return "inputs." + input.name; });
}

/// The parameters of a method: sizes and inputs, as far as there are any.
std::string parameters_of(const Interface& interface, const InterfaceProgram& program,
                          const std::string& more) {
    std::string text;
    if (!interface.dims.empty()) text += "const Dims& dims";
    if (!program.inputs.empty())
        text += (text.empty() ? "const " : ", const ") + program.type + "Inputs& inputs";
    return more.empty() ? text : text + (text.empty() ? "" : ", ") + more;
}

void write_results(const InterfaceProgram& program, const std::string& more, Writer& writer) {
    writer.line("return {");
    writer.indent();
    for (const InterfaceTensor& output : program.outputs)
        writer.line("." + output.name + " = " + result(output) + ",");
    if (!more.empty()) writer.line(more);
    writer.unindent();
    writer.line("};");
}

void write_call(const Interface& interface, const InterfaceProgram& program, Writer& writer) {
    const bool returns = !program.outputs.empty();
    if (!program.starts.empty())
        writer.line("/// What `" + program.starts + "` keeps from call to call begins here.");
    std::string more = returns ? "const " + program.type + "Memory& memory = {}" : "";
    if (program.draws) more += std::string(returns ? ", " : "") + "runtime::Draw draw = {}";
    writer.open((returns ? program.type + "Outputs " : "void ") + program.method + "(" +
                parameters_of(interface, program, more) + ")");
    const std::string outputs = joined(
        program.outputs, [](const InterfaceTensor& output) { return "memory." + output.name; });
    writer.line((returns ? "const auto& tensors = " : "") + program.method + "_.run(" +
                sizes_of_call(interface, "dims.") + ", " + "{" + inputs_of(program) + "}" + ", {" +
                outputs + "}" + (program.draws ? ", draw" : "") + ");");
    if (returns) write_results(program, "", writer);
    writer.close();
}

void write_bytes(const Interface& interface, const InterfaceProgram& program,
                 const std::string& method, Writer& writer) {
    writer.open("runtime::CallBytes " + method + "(" +
                (interface.dims.empty() ? "" : "const Dims& dims") + ") const");
    writer.line("return " + program.method + "_.bytes_for(" + sizes_of_call(interface, "dims.") +
                ");");
    writer.close();
}

/// The rest of the constructor: its members, and which of them start others.
void write_start(const Interface& interface, const std::string& members, Writer& writer) {
    std::vector<std::string> lines;
    for (const InterfaceProgram& program : interface.programs)
        if (!program.starts.empty())
            lines.push_back(fmt::format("{}_.starts({}_);", program.method, program.starts));
    if (lines.empty()) return writer.line("    : " + members + " {}");
    writer.line("    : " + members + " {");
    writer.indent();
    for (const std::string& line : lines) writer.line(line);
    writer.unindent();
    writer.line("}");
}

void write_session(const Interface& interface, Writer& writer) {
    for (const InterfaceProgram& program : interface.programs)
        write_structs(program, false, writer);
    writer.line(
        "/// Runs programs, in memory of its own. One thread calls it at a time. Inputs are "
        "row-major, have");
    writer.line(
        "/// as many elements as the sizes say, and are read where they are. Outputs stand in the "
        "session");
    writer.line("/// until its next call of the same program, or where `memory` says. Errors are");
    writer.line("/// runtime::UserError with one sentence.");
    writer.line("class Session {");
    writer.line("  public:");
    writer.indent();
    const std::string members = joined(interface.programs, [](const InterfaceProgram& program) {
        return fmt::format("{}_(model, \"{}\", options)", program.method, program.program->name);
    });
    writer.line(
        "explicit Session(const Model& model, const runtime::SessionOptions& options = {})");
    write_start(interface, members, writer);
    for (const InterfaceProgram& program : interface.programs)
        write_call(interface, program, writer);
    writer.blank();
    writer.line(
        "/// The memory that a call takes, known before any; it takes none when it is asked.");
    for (const InterfaceProgram& program : interface.programs)
        write_bytes(interface, program, program.bytes, writer);
    if (interface.has_states()) {
        writer.blank();
        writer.line(
            "/// What is kept from call to call is zeros again; it is so, too, when sizes change.");
        writer.open("void reset()");
        for (const InterfaceProgram& program : interface.programs)
            if (program.has_states) writer.line(program.method + "_.reset();");
        writer.close();
    }
    writer.unindent();
    writer.blank();
    writer.line("  private:");
    writer.indent();
    writer.line("friend struct ::" + interface.name + "_session;");
    for (const InterfaceProgram& program : interface.programs)
        writer.line("runtime::TypedProgram " + program.method + "_;");
    writer.unindent();
    writer.line("};");
}

void write_trainer(const Interface& interface, const InterfaceProgram& program, Writer& writer) {
    writer.blank();
    write_structs(program, true, writer);
    writer.line(
        "/// Moves the parameters of a model: forward, backward, and the optimizer in one call. "
        "Outputs");
    writer.line("/// stand in the trainer until its next step.");
    writer.line("class Trainer {");
    writer.line("  public:");
    writer.indent();
    writer.line(
        "explicit Trainer(const Model& model, const runtime::OptimizerSettings& optimizer = {},");
    writer.line("                 const runtime::SessionOptions& options = {})");
    writer.line("    : " + program.method + "_(model, optimizer, options) {}");
    writer.blank();
    writer.line("/// Dropout draws from `seed` and the number of the step.");
    writer.open(
        program.type + "Outputs step(" +
        parameters_of(interface, program, "const runtime::StepRule& rule, std::uint64_t seed = 0") +
        ")");
    const std::string run = program.method + "_.run(" + sizes_of_call(interface, "dims.") + ", " +
                            "{" + inputs_of(program) + "}" + ", rule, seed);";
    writer.line((program.outputs.empty() ? "" : "const auto& tensors = ") + run);
    write_results(program, ".outcome = " + program.method + "_.outcome(),", writer);
    writer.close();
    writer.line(
        "/// The memory that a step takes, gradients among it, beside the optimizer's state.");
    write_bytes(interface, program, "step_bytes", writer);
    writer.line("/// Its state and the number of its steps, to be kept and set.");
    writer.line("runtime::Optimizer& optimizer() { return " + program.method + "_.optimizer(); }");
    writer.unindent();
    writer.blank();
    writer.line("  private:");
    writer.indent();
    writer.line("friend struct ::" + interface.name + "_trainer;");
    writer.line("runtime::TypedTrainer " + program.method + "_;");
    writer.unindent();
    writer.line("};");
}

}  // namespace

std::string cpp_interface_text(const Interface& interface) {
    Writer writer;
    writer.line("namespace fovea::" + interface.name + " {");
    writer.blank();
    writer.line("using runtime::View;");
    writer.blank();
    if (!interface.dims.empty()) {
        writer.line("/// The sizes of a call.");
        write_sizes("Dims", interface.dims, writer);
    }
    if (!interface.sizes.empty()) {
        writer.line("/// The sizes that parameters have.");
        write_sizes("Sizes", interface.sizes, writer);
    }
    write_model(interface, writer);
    write_session(interface, writer);
    for (const InterfaceProgram& program : interface.training)
        write_trainer(interface, program, writer);
    writer.blank();
    writer.line("}  // namespace fovea::" + interface.name);
    return writer.text();
}

}  // namespace fovea::emit
