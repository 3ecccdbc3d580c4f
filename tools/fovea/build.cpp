// `fovea build`: a model's program in one file.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "codegen/base/error.h"
#include "runtime/files/files.h"
#include "runtime/images/image_classifier.h"
#include "runtime/isa.h"
#include "runtime/language/text_encoder.h"
#include "tools/fovea/adapt/lora_option.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/device/device_code.h"
#include "tools/fovea/device/embedded_code.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/files/runtime_archive.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/process.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/schedule/schedule_option.h"
#include "tools/fovea/version.h"
#include "tools/fovea/wasm/link_wasm.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLinkFlags[] = {
    "-fopenmp",
    "-Wl,--gc-sections",         // no functions that nothing calls
    "-Wl,-s",                    // no names for debuggers,
    "-Wl,--exclude-libs,ALL",    // nor for other libraries, of what is in archives
    "-Wl,-z,noseparate-code",    // code begins on the page on which other bytes end
};

/// What a program has beside its kernels for CPUs.
enum class Also { nothing, kernels_for_gpus, quantize };

/// The main function.
std::string main_text(const std::string& name, const char* kind, Also also) {
    const bool on_cuda = also == Also::kernels_for_gpus;
    const std::string model = also == Also::nothing
                                  ? name + "_model"
                                  : fmt::format(
                                        "[]() -> const fovea::runtime::Model& {{\n        return "
                                        "fovea::runtime::{1}({0}_model(){2});\n    }}",
                                        name, on_cuda ? "with_cuda" : "with_quantize",
                                        on_cuda ? fmt::format(", {}_on_cuda", name) : "");
    return fmt::format(R"(#include "fovea/main.h"

const fovea::runtime::Model& {0}_model();
{3}
int main(int argc, char** argv) {{
    return fovea::runtime::{1}_program(argc, argv, "{0}", {2}, "{4}");
}}
)",
                       name, kind, model,
                       on_cuda ? fmt::format("fovea::runtime::Model {}_on_cuda("
                                             "const fovea::runtime::Model&);\n",
                                             name)
                               : "",
                       name_and_version());
}

bool is_for_wasm(const std::vector<std::string>& isas) {
    return runtime::machine_of(isas.front()) == "wasm32";
}

/// WebAssembly lacks what reads tokenizers, which go with the weights that are made.
Also also_in(const plan::Model& plan, bool on_cuda, bool is_wasm) {
    if (on_cuda) return Also::kernels_for_gpus;
    return plan::has_stored_weights(plan) && !is_wasm ? Also::quantize : Also::nothing;
}

/// Which main function of runtime/main.h the programs are for: WebAssembly has the first and the
/// last.
const char* kind_of(const plan::Model& plan, Driver driver, bool is_wasm) {
    if (driver == Driver::translator) return "translator";
    if (is_wasm) return "runner";
    const bool is_decoded = std::ranges::any_of(
        plan.programs, [](const plan::Program& program) { return program.name == "decode_step"; });
    if (is_decoded) return "language";
    const runtime::Model description = description_of(plan);
    if (runtime::ImageClassifier::fits(description)) return "classifier";
    return runtime::TextEncoder::fits(description) ? "encoder" : "runner";
}

std::vector<ProgramRequest> built_programs(const LoadedModel& model, Fusion fusion,
                                           bool is_wasm = false) {
    if (model.entry.driver == Driver::translator) return translator_programs(model, fusion);
    std::vector<ProgramRequest> requests = runner_programs(model, fusion);
    if (is_wasm) return requests;
    for (ProgramRequest& program : language_programs(model, fusion))
        requests.push_back(std::move(program));
    return requests;
}

/// `plan` for this machine's cores, `on_devices`, unless null, for GPUs.
std::string compiled_program(const plan::Model& plan, const plan::Model* on_devices, Driver driver,
                             const std::vector<std::string>& isas) {
    const Home home = find_home();
    TemporaryFolder folder;
    write_generated(plan, folder.path(), isas);
    fs::create_directory_symlink(home.sources / "runtime", folder.path() / "fovea");
    const std::string name = generated_name(plan);
    write_temporary(folder.path() / "main.cpp",
                    main_text(name, kind_of(plan, driver, is_for_wasm(isas)),
                              also_in(plan, on_devices != nullptr, is_for_wasm(isas))));
    std::vector<std::string> sources = {"main.cpp"};
    if (on_devices) {
        write_temporary(folder.path() / "device_code.cpp", embedded_device_code(*on_devices, name));
        sources.emplace_back("device_code.cpp");
    }
    std::vector<std::string> flags;
#if defined(__SANITIZE_ADDRESS__)
    flags.push_back("-fsanitize=address,undefined");
#endif
    std::vector<std::string> objects = compile_objects(plan, folder.path(), isas, flags, sources);
    objects.push_back(runtime_archive_for(isas.front(), folder.path()).string());
    if (is_for_wasm(isas))
        return "#!/usr/bin/env node\n" + link_wasm(objects, folder.path(), WasmHost::node);
    const fs::path program = folder.path() / "program";
    std::vector<std::string> link = find_compiler_for(isas.front());
    link.insert(link.end(), flags.begin(), flags.end());
    for (const char* flag : kLinkFlags) link.emplace_back(flag);
    link.insert(link.end(), {"-o", program.string()});
    link.insert(link.end(), objects.begin(), objects.end());
    compile_generated(link);
    const std::vector<std::byte> bytes = runtime::read_file(program.string());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_program(const std::string& path, const std::string& bytes) {
    runtime::write_file_atomically(path, bytes);
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    auto all = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    fs::permissions(path, all, fs::perm_options::add, error);
    if (error)
        throw UserError(fmt::format("cannot make '{}' executable: {}", path, error.message()));
}

/// A model with logits of each token is one that its author may want to go on with texts.
void say_why_not_decoded(const LoadedModel& model) {
    const auto why = why_not_decoded(model);
    const bool has_logits = std::ranges::any_of(model.graph.nodes, [](const Node& node) {
        return node.op == Op::output && node.name == "logits" && node.shape.rank() == 3;
    });
    if (why && has_logits && model.entry.driver != Driver::translator)
        fmt::print(stderr, "note: the program has no train, generate and score: {}\n", *why);
}

int build_model(const Arguments& given) {
    wanted_isas(given);
    const Fusion fusion = fusion_of(given);
    const bool on_cuda = given.choice("device", {"cpu", "cuda"}) == "cuda";
    if (on_cuda && is_for_wasm(wanted_isas(given)))
        throw UserError("--device cuda is for programs of this machine, not for --isa wasm");
    const std::string& output = given.text("output");
    std::error_code error;
    const fs::file_type type = fs::status(output, error).type();
    if (type == fs::file_type::directory)
        throw UserError(fmt::format("cannot write '{}': it is a folder", output));
    if (type == fs::file_type::none)
        throw UserError(fmt::format("cannot write '{}': {}", output, error.message()));
    find_compiler_for(wanted_isas(given).front());
    LoadedModel model = load_model(given, given.model());
    take_lora(given, model);
    say_why_not_decoded(model);
    model.targets = targets_of(given);
    const std::vector<std::string> isas = wanted_isas(given, products_of(model));
    const Driver driver = model.entry.driver;
    const CompiledModel compiled = compile(model, built_programs(model, fusion, is_for_wasm(isas)));
    std::optional<CompiledModel> on_devices;
    if (on_cuda) {
        model.dtype = dtype_of(given.settings()).value_or(bf16);
        on_devices = compile(model, built_programs(model, fusion), Kernels::of_gpu);
    }
    write_program(output, compiled_program(compiled.plan, on_devices ? &on_devices->plan : nullptr,
                                           driver, isas));
    return 0;
}

}  // namespace

Command build_command() {
    po::options_description options("Options");
    auto add = options.add_options();
    add("output,o", po::value<std::string>()->value_name("FILE"),
        "the program to write (required)");
    add("device", po::value<std::string>()->value_name("cpu|cuda"),
        "cuda: with kernels for GPUs, too, as PTX; the program's --device cuda runs them");
    add_fusion_option(options);
    add_isa_option(options);
    add_schedule_option(options);
    add_settings_option(options);
    add_lora_options(options);
    return {
        {"build",
         "write a model's program",
         "MODEL",
         "Writes the program of a model: a translator for sentence models, otherwise a\n"
         "runner of tensor files. It needs the C++ and OpenMP libraries alone; built with\n"
         "--device cuda, its option --device cuda opens the CUDA driver. Weights and activations\n"
         "lie in memory as float32 on this machine's cores and as bfloat16 on a GPU, unless\n"
         "--set dtype=f32|tf32|bf16|f16 says otherwise.",
         {{"a program of a function of yours, for this machine",
           "fovea build my_model.cpp:my_model --isa native -o my_model_program"},
          {"a translator that trains; takes minutes",
           "fovea build transformer --set hidden=64 --set dropout=0.1 -o translator"}}},
        options,
        build_model};
}

}  // namespace fovea::tool
