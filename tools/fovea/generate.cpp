// `fovea generate`: a model's C++ with a copy of the runtime, which builds anywhere.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "codegen/base/error.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/device/embedded_code.h"
#include "tools/fovea/generated_model.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/make_folder.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/schedule/schedule_option.h"

namespace fovea::tool {

namespace {

std::vector<ProgramRequest> wanted_programs(const LoadedModel& model, bool training,
                                            Fusion fusion) {
    if (!training) {
        std::vector<ProgramRequest> requests = {runner_program(model, false, false, fusion)};
        for (ProgramRequest& program : extra_programs(model, fusion))
            requests.push_back(std::move(program));
        return requests;
    }
    if (model.entry.driver == Driver::translator) {
        std::vector<ProgramRequest> requests = runner_programs(model, fusion);
        for (ProgramRequest& program : translator_programs(model, fusion))
            requests.push_back(std::move(program));
        return requests;
    }
    return runner_programs(model, fusion);
}

/// Two models would share one CMakeLists.txt.
void refuse_folder_of_another(const std::filesystem::path& folder, const std::string& name) {
    std::ifstream stream(folder / "CMakeLists.txt");
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream.is_open() || text.find(name + ".cpp") != std::string::npos) return;
    throw UserError(fmt::format(
        "the CMakeLists.txt in '{}' is of something else than {}: choose another folder",
        folder.string(), name));
}

}  // namespace

int generate_command(const std::vector<std::string>& arguments) {
    po::options_description options("Options");
    auto add = options.add_options();
    add("output,o", po::value<std::string>()->value_name("DIR"), "the folder to write (required)");
    add("training", "with the programs that give gradients");
    add("target", po::value<std::string>()->value_name("cpu|ptx"), "cpu by default");
    add_fusion_option(options);
    add_isa_option(options);
    add_schedule_option(options);
    add_settings_option(options);
    Arguments given({"generate", "MODEL",
                     "Writes DIR/<model>.h, DIR/<model>.cpp, DIR/CMakeLists.txt and DIR/fovea, a\n"
                     "copy of the runtime; for ptx DIR/<model>.<sm>.ptx and\n"
                     "DIR/<model>.launches.json."},
                    options, arguments);
    if (given.help()) return 0;
    const bool is_ptx = given.choice("target", {"cpu", "ptx"}) == "ptx";
    if (is_ptx && given.has("isa"))
        throw UserError("--isa is for --target cpu; PTX is written for all of its architectures");
    wanted_isas(given);
    const Fusion fusion = fusion_of(given);
    const std::filesystem::path folder = given.text("output");
    LoadedModel model = load_model(given.model(), given.settings(), is_ptx ? bf16 : f32);
    model.targets = targets_of(given);
    const std::vector<std::string> isas = wanted_isas(given, model.dtype);
    CompiledModel compiled = compile(model, wanted_programs(model, given.has("training"), fusion),
                                     is_ptx ? Kernels::of_gpu : Kernels::of_cpu);
    make_folder(folder);
    refuse_folder_of_another(folder, generated_name(compiled.plan));
    if (is_ptx) {
        write_ptx(compiled.plan, generated_name(compiled.plan), folder);
        return 0;
    }
    write_generated(compiled.plan, folder, isas);
    copy_runtime(folder);
    return 0;
}

}  // namespace fovea::tool
