// The part of a generated header that C reads.
#include "codegen/emit/cpp/interface/interface.h"
#include "codegen/emit/cpp/interface/parts.h"
#include "codegen/emit/cpp/writer.h"

namespace fovea::emit {
namespace {

/// Writes `typedef struct NAME { … } NAME;` around fields with their remarks.
void write_struct(const std::string& name, const std::vector<std::string>& fields, Writer& writer) {
    writer.open("typedef struct " + name);
    for (const std::string& field : fields) writer.line(field);
    writer.close("} " + name + ";");
}

std::vector<std::string> fields_of(const std::vector<InterfaceDim>& dims) {
    std::vector<std::string> fields;
    for (const InterfaceDim& dim : dims) fields.push_back("int64_t " + dim.name + ";");
    return fields;
}

std::vector<std::string> fields_of(const std::vector<InterfaceTensor>& tensors,
                                   const std::string& qualifier) {
    std::vector<std::string> fields;
    for (const InterfaceTensor& tensor : tensors)
        fields.push_back(qualifier + c_type(*tensor.tensor) + "* " + tensor.name + ";  // " +
                         tensor.remark());
    return fields;
}

void write_program(const Interface& interface, const InterfaceProgram& program, bool is_training,
                   Writer& writer) {
    const CNames names(interface, program);
    writer.blank();
    if (!program.inputs.empty())
        write_struct(names.inputs, fields_of(program.inputs, "const "), writer);
    if (!program.outputs.empty()) {
        writer.line(is_training
                        ? "// Copied to where these point; null: not wanted."
                        : "// Where outputs are written; null: into memory that nobody sees.");
        write_struct(names.outputs, fields_of(program.outputs, ""), writer);
    }
    if (!program.starts.empty())
        writer.line("// What " + interface.name + "_" + program.starts +
                    " keeps from call to call begins here.");
    writer.line(function_head(interface, program, is_training) + ";");
}

}  // namespace

std::string c_interface_text(const Interface& interface) {
    const std::string& name = interface.name;
    Writer writer;
    writer.line(
        "// Functions return 0 or another fovea_status, and fovea_error() has the sentence.");
    writer.line(
        "// Weights are read by any number of sessions; one thread at a time calls a session");
    writer.line("// or a trainer.");
    writer.line("int " + name + "_c_version(void);  // FOVEA_C_VERSION of the library");
    writer.blank();
    if (!interface.dims.empty()) {
        writer.line("// The sizes of a call.");
        write_struct(name + "_dims", fields_of(interface.dims), writer);
    }
    if (!interface.sizes.empty()) {
        writer.line("// The sizes that parameters have.");
        write_struct(name + "_sizes", fields_of(interface.sizes), writer);
    }
    for (const char* what : {"weights", "session"}) {
        const std::string type = name + "_" + what;
        writer.line("typedef struct " + type + " " + type + ";");
    }
    writer.blank();
    const auto declare = [&](const CFunction& function) {
        writer.line("// " + function.remark);
        writer.line(function.head + ";");
    };
    for (const CFunction& function : functions_of(interface)) declare(function);
    for (const InterfaceProgram& program : interface.programs) {
        write_program(interface, program, false, writer);
        declare(bytes_function(interface, program));
    }
    for (const InterfaceProgram& program : interface.training) {
        writer.blank();
        writer.line("typedef struct " + name + "_trainer " + name + "_trainer;");
        for (const CFunction& function : functions_of_trainer(interface)) declare(function);
        write_program(interface, program, true, writer);
    }
    return writer.text();
}

}  // namespace fovea::emit
