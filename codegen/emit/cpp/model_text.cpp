// Puts the files of a model together: kernels first, then programs, then the description.
#include "codegen/emit/cpp/model_text.h"

#include <algorithm>
#include <set>

#include "codegen/emit/cpp/interface/interface.h"
#include "codegen/emit/cpp/program_description.h"
#include "codegen/emit/cpp/program_text.h"
#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/plan/look_up_rows.h"
#include "codegen/plan/share_prepared.h"

namespace fovea::emit {

using plan::Model;

namespace {

constexpr const char* kInitials[] = {"zeros", "ones", "xavier_uniform", "normal", "linear_bias"};

std::vector<std::string> parameter_rows(const Model& model) {
    std::vector<std::string> rows;
    for (const plan::Tensor& tensor : model.parameters)
        rows.push_back(std::string(tensor.frozen ? "frozen " : "") +
                       (tensor.copied ? "copied " : "") + (tensor.looked_up ? "looked_up " : "") +
                       tensor_fields(tensor) + kInitials[int(tensor.initial)] + " " +
                       std::to_string(tensor.fan_in) + " " + std::to_string(tensor.zero_row) + " " +
                       tensor.name);
    return rows;
}

/// Kernels, programs, and the table of programs that the description binds.
std::string kernels_text(const Model& model) {
    std::string kernels;
    for (const kernel::Kernel& kernel : model.kernels)
        kernels += cpp_kernel(kernel, model.target) + "\n";
    return kernel_headers(model, kernels) + open_namespace(model) + kernels + programs_text(model);
}

/// Whether the size of any parameter is known by a file alone.
bool has_open_sizes(const Model& model) {
    return std::any_of(model.parameters.begin(), model.parameters.end(),
                       [](const plan::Tensor& tensor) {
                           return std::any_of(tensor.shape.begin(), tensor.shape.end(),
                                              [](const Dim& size) { return !size.is_static(); });
                       });
}

/// Whether a checkpoint's `config.json` may say other than the model was built with.
bool has_config(const Model& model) {
    return !model.config_fields.empty() ||
           std::ranges::any_of(model.settings,
                               [](const plan::Setting& setting) { return !setting.in_training; });
}

/// The last fields of the description: parts of the runtime and what they need, as far as the
/// model needs any.
std::vector<std::string> needed_parts(const Model& model, Writer& writer) {
    const std::string null = "nullptr", none = quoted("");
    const std::pair<std::string, std::string> fields[] = {
        {has_open_sizes(model) ? "&kOpenSizes" : null, null},
        {plan::has_stored_weights(model) ? "&kStoredWeights" : null, null},
        {write_texts("config_fields", model.config_fields, writer), none},
        {has_config(model) ? "&kVerifiedConfigs" : null, null},
        {plan::has_shared(model) ? "&kSharedBuffers" : null, null},
        {plan::leaves_in_file(model) ? "&kFileWeights" : null, null}};
    std::vector<std::string> parts, lacking;
    for (const auto& [field, unset] : fields) {
        lacking.push_back(field);
        if (field == unset) continue;
        parts.insert(parts.end(), lacking.begin(), lacking.end());
        lacking.clear();
    }
    return parts;
}

/// Writes the tables that go over all programs, and the one that holds them all.
void write_description_table(const Model& model, const std::vector<std::string>& isas,
                             Writer& writer) {
    const std::string name = model_identifier(model);
    std::vector<std::string> settings, programs, aliases, parts;
    for (const plan::Setting& setting : model.settings)
        settings.push_back(setting.name + " " + setting.value +
                           (setting.is_default ? " default" : "") +
                           (setting.in_training ? " training" : ""));
    for (const plan::Program& program : model.programs)
        programs.push_back(identifier(program.name) + "_program");
    for (const plan::Alias& alias : model.aliases)
        aliases.insert(aliases.end(), {alias.name, alias.parameter});
    for (const std::string& isa : isas)
        parts.push_back("{" + quoted(isa) + ", " + isa + "::" + name + "_programs}");
    const std::string tables[] = {quoted(model.name),
                                  write_texts("dims", model.dims, writer),
                                  write_texts("settings", settings, writer),
                                  write_texts("parameters", parameter_rows(model), writer),
                                  write_rows("ProgramRow", "programs", programs, writer),
                                  write_texts("aliases", aliases, writer),
                                  write_rows("IsaPart", "parts", parts, writer)};
    const std::vector<std::string> needed = needed_parts(model, writer);
    writer.line("constexpr Description description = {");
    writer.indent();
    for (const std::string& table : tables) writer.line(table + ",");
    writer.line("kProfile,");
    for (const std::string& part : needed) writer.line(part + ",");
    writer.unindent();
    writer.line("};");
    writer.blank();
}

void write_model_function(const Model& model, Writer& writer) {
    const std::string name = model_identifier(model);
    writer.open("const fovea::runtime::Model& " + name + "_model()");
    writer.line("using namespace fovea::generated::" + name + "_description;");
    writer.line("static const Model& model = new_model(description);");
    writer.line("return model;");
    writer.close();
}

std::string description_text(const Model& model, const std::vector<std::string>& isas) {
    const std::string name = model_identifier(model);
    Writer writer;
    for (const char* header : {"check_inputs", "description"})
        writer.line(std::string("#include \"fovea/") + header + ".h\"");
    writer.blank();
    for (const std::string& isa : isas)
        writer.line("namespace fovea::generated::" + isa + " { extern const runtime::ProgramCode " +
                    name + "_programs[]; }");
    writer.blank();
    writer.line("namespace fovea::generated::" + name + "_description {");
    writer.line("namespace {");
    writer.blank();
    writer.line("using namespace fovea::runtime;");
    writer.line("using i64 = std::int64_t;");
    writer.blank();
    for (const plan::Program& program : model.programs)
        write_program_description(model, program, writer);
    write_description_table(model, isas, writer);
    writer.line("}  // namespace");
    writer.line("}  // namespace fovea::generated::" + name + "_description");
    writer.blank();
    write_model_function(model, writer);
    return writer.text();
}

}  // namespace

std::string model_identifier(const Model& model) {
    // Beside its namespace and its files stand those of the runtime and of C, beside its target
    // those of CMake.
    static const std::set<std::string> taken = {"generated",
                                                "avx512",
                                                "avx2",
                                                "baseline",
                                                "neon",
                                                "neon_bf16",
                                                "wasm",
                                                "all",
                                                "help",
                                                "clean",
                                                "install",
                                                "test",
                                                "package",
                                                "package_source",
                                                "preinstall",
                                                "depend",
                                                "edit_cache",
                                                "rebuild_cache",
                                                "list_install_components"};
    const std::string name = identifier(model.name);
    return taken.contains(name) || is_reserved(name) || is_header(name) ? name + "_model" : name;
}

Model with_distinct_names(const Model& model) {
    Model result = model;
    std::set<std::string> taken = names_of_programs();
    taken.insert({"observe", "tensor", "contract", "runtime"});
    for (kernel::Kernel& kernel : result.kernels) {
        kernel.name = fresh_name(taken, kernel.name);
    }
    return result;
}

std::string kernel_headers(const Model& model, const std::string& kernels) {
    Writer head;
    for (const char* header : {"contract", "dropout", "math", "rows", "run", "threads", "vector"})
        head.line(std::string("#include \"fovea/cpu/") + header + ".h\"");
    const auto is_tiled = [](const kernel::Kernel& kernel) {
        return kernel.form == kernel::Form::tiles;
    };
    if (std::any_of(model.kernels.begin(), model.kernels.end(), is_tiled))
        for (const char* header : {"tile", "tile_dropout", "joint_sums"})
            head.line(std::string("#include \"fovea/cpu/") + header + ".h\"");
    if (mentions(kernels, "multiply_few_rows")) head.line("#include \"fovea/cpu/few_rows.h\"");
    if (mentions(kernels, "pair_products")) head.line("#include \"fovea/cpu/paired_tiles.h\"");
    if (mentions(kernels, "lane_bounds")) head.line("#include \"fovea/cpu/seen_blocks.h\"");
    if (mentions(kernels, "for_row_groups")) head.line("#include \"fovea/cpu/row_groups.h\"");
    if (mentions(kernels, "contract_in_place") || mentions(kernels, "contract_along"))
        head.line("#include \"fovea/cpu/contract_windows.h\"");
    const auto replicates = [](const plan::Program& program) { return program.replicas.slots > 0; };
    if (std::any_of(model.programs.begin(), model.programs.end(), replicates))
        head.line("#include \"fovea/cpu/replicas.h\"");
    if (plan::looks_up_rows(model)) head.line("#include \"fovea/cpu/table_floats.h\"");
    if (mentions(kernels, "SomeRows")) head.line("#include \"fovea/cpu/some_rows.h\"");
    if (plan::has_halves(model, DType::bf16))
        head.line("#include \"fovea/cpu/contract_bfloat16.h\"");
    if (plan::has_stored_weights(model))
        head.line("#include \"fovea/cpu/quantized/contract_quantized.h\"");
    if (plan::has_halves(model, DType::f16)) head.line("#include \"fovea/cpu/contract_float16.h\"");
    head.blank();
    return head.text();
}

std::string open_namespace(const Model& model) {
    return "namespace fovea::cpu::inline FOVEA_ISA::" + model_identifier(model) + " {\n\n";
}

std::string close_namespace(const Model& model) {
    return "}  // namespace fovea::cpu::inline FOVEA_ISA::" + model_identifier(model) + "\n";
}

std::string programs_text(const Model& model) {
    const std::string name = model_identifier(model);
    Writer programs;
    for (const plan::Program& program : model.programs)
        write_program_code(model, program, programs);
    Writer table;
    table.line("namespace fovea::generated::FOVEA_ISA {");
    const std::string row = "const runtime::ProgramCode " + name + "_programs[]";
    table.line("extern " + row + ";");
    table.line(row + " = {");
    table.indent();
    for (const plan::Program& program : model.programs)
        table.line("cpu::" + name + "::run_" + identifier(program.name) + ",");
    table.unindent();
    table.line("};");
    table.line("}  // namespace fovea::generated::FOVEA_ISA");
    return programs.text() + close_namespace(model) + "\n" + table.text();
}

std::string cpp_header(const Model& model) {
    const Interface interface = interface_of(model);
    Writer writer;
    writer.line("// The model " + interface.name + ", generated by fovea" +
                (model.source.empty() ? "" : " from " + model.source) +
                ": for C, and below it for C++.");
    writer.line("#pragma once");
    writer.blank();
    writer.line("#include \"fovea/c.h\"");
    writer.blank();
    for (const char* line : {"#ifdef __cplusplus", "extern \"C\" {", "#endif"}) writer.line(line);
    std::string text = writer.text() + "\n" + c_interface_text(interface) + "\n";
    Writer rest;
    for (const char* line : {"#ifdef __cplusplus", "}  // extern \"C\"", ""}) rest.line(line);
    if (!interface.training.empty()) rest.line("#include \"fovea/typed/typed_trainer.h\"");
    else rest.line("#include \"fovea/typed/typed_program.h\"");
    rest.blank();
    rest.line("/// Its description: the programs as fovea::runtime::Instance takes them.");
    rest.line("const fovea::runtime::Model& " + interface.name + "_model();");
    rest.blank();
    return text + rest.text() + cpp_interface_text(interface) + "#endif  // __cplusplus\n";
}

std::string cpp_source(const Model& given, const std::vector<std::string>& isas) {
    const Model model = with_distinct_names(given);
    const std::string name = model_identifier(model);
    Writer head;
    head.line("// The model " + name + ", generated by fovea" +
              (model.source.empty() ? "" : " from " + model.source) + ".");
    head.line("// Compiled with FOVEA_KERNELS for each instruction set: kernels and programs.");
    head.line("// Compiled with FOVEA_DESCRIPTION for any machine: what it says about itself.");
    head.line("#ifndef FOVEA_DESCRIPTION");
    head.blank();
    return head.text() + kernels_text(model) + "\n#endif  // FOVEA_DESCRIPTION\n" +
           "#ifndef FOVEA_KERNELS\n\n" + description_text(model, isas) +
           "\n#endif  // FOVEA_KERNELS\n";
}

}  // namespace fovea::emit
