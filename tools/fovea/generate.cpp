// `fovea generate`: a model's C++ with a copy of the runtime, which builds anywhere.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/interface/python_names.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/device/embedded_code.h"
#include "tools/fovea/files/copy_runtime.h"
#include "tools/fovea/files/depfile.h"
#include "tools/fovea/files/make_folder.h"
#include "tools/fovea/files/single_file.h"
#include "tools/fovea/files/verify_own_folder.h"
#include "tools/fovea/files/write_python.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/schedule/schedule_option.h"

namespace fovea::tool {

namespace {

std::vector<ProgramRequest> wanted_programs(const LoadedModel& model, const Arguments& given,
                                            Fusion fusion) {
    std::vector<ProgramRequest> requests;
    const auto add = [&](std::vector<ProgramRequest> programs) {
        std::ranges::move(programs, std::back_inserter(requests));
    };
    const bool translates = model.entry.driver == Driver::translator;
    if (!given.has("training")) {
        add({runner_program(model, false, false, fusion)});
    } else {
        add(runner_programs(model, fusion));
        if (translates) add(translator_programs(model, fusion));
        else if (is_trained(model.graph)) add({training_step_program(model, fusion)});
    }
    add(extra_programs(model, fusion));
    if (!given.has("decoding")) return requests;
    if (const auto reason = why_not_decoded(model)) throw UserError("--decoding: " + *reason);
    if (!given.has("training") || !translates) add(text_programs(model, fusion));
    return requests;
}

/// The name that `--name` gives to the model, its files and its function.
void rename(LoadedModel& model, const std::string& name) {
    const bool is_name =
        !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
        std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (!is_name || generated_name({.name = name}) != name)
        throw UserError(fmt::format(
            "--name '{}': that is {}; choose another name", name,
            is_name ? "taken by C++, CMake or fovea's runtime" : "no name of a function"));
    model.entry.name = name;
}

/// A package that `import` cannot name, or finds in another one's place.
void refuse_package(const LoadedModel& model) {
    const std::string name = generated_name({.name = model.entry.name});
    if (const auto reason = emit::why_not_imported(name))
        throw UserError(fmt::format(
            "--python: a package '{}' cannot be imported, since that is {}: give another --name",
            name, *reason));
}

/// UserError for options that ask for two things at once.
void refuse_form(const Arguments& given, bool is_ptx) {
    if (is_ptx && (given.has("sources-only") || given.has("depfile") || given.has("single-file")))
        throw UserError("--sources-only, --single-file and --depfile are for --target cpu");
    if (is_ptx && given.has("python"))
        throw UserError("--python is for --target cpu: the package runs on this machine's cores");
    if (given.has("python"))
        for (const char* other : {"sources-only", "single-file", "depfile"})
            if (given.has(other))
                throw UserError(
                    fmt::format("--{} is of the sources, and --python of a package that "
                                "has none: leave out one of them",
                                other));
    if (given.has("sources-only") && given.has("single-file"))
        throw UserError(
            "--sources-only leaves the runtime out, and --single-file takes it in: leave out one "
            "of them");
}

int generate_model(const Arguments& given) {
    const bool is_ptx = given.choice("target", {"cpu", "ptx"}) == "ptx";
    for (const char* option : {"isa", "bits"})
        if (is_ptx && given.has(option))
            throw UserError(fmt::format(
                "--{} is for --target cpu; PTX is written for all of its architectures", option));
    refuse_form(given, is_ptx);
    wanted_isas(given);
    const Fusion fusion = fusion_of(given);
    const std::filesystem::path folder = given.text("output");
    LoadedModel model = load_model(given, given.model(), is_ptx ? bf16 : f32);
    if (given.has("name")) rename(model, given.text("name"));
    if (given.has("python")) refuse_package(model);
    model.targets = targets_of(given);
    const std::vector<std::string> isas = wanted_isas(given, products_of(model));
    if (given.has("single-file") && isas.size() > 1)
        throw UserError(
            "a single file holds kernels for one instruction set: say which, as by --isa avx2");
    CompiledModel compiled = compile(model, wanted_programs(model, given, fusion),
                                     is_ptx ? Kernels::of_gpu : Kernels::of_cpu);
    make_folder(folder);
    const std::string name = generated_name(compiled.plan);
    const bool is_alone = is_ptx || given.has("sources-only") || given.has("single-file");
    verify_own_folder(folder, name,
                      given.has("python") ? Generated::package
                      : is_alone          ? Generated::sources
                                          : Generated::project);
    if (is_ptx) {
        write_ptx(compiled.plan, name, folder);
        return 0;
    }
    if (given.has("python")) {
        write_python(compiled.plan, folder, isas);
        return 0;
    }
    if (given.has("single-file")) {
        write_single_file(compiled.plan, folder, isas.front());
    } else if (given.has("sources-only")) {
        write_sources(compiled.plan, folder, isas);
    } else {
        write_generated(compiled.plan, folder, isas);
        copy_runtime(folder, model.entry.driver == Driver::translator ? WithTranslator::yes
                                                                      : WithTranslator::no);
    }
    if (given.has("depfile"))
        write_depfile(given.text("depfile"), folder / (name + ".cpp"), model.files);
    return 0;
}

}  // namespace

Command generate_command() {
    po::options_description options("Options");
    auto add = options.add_options();
    add("output,o", po::value<std::string>()->value_name("DIR"), "the folder to write (required)");
    add("name", po::value<std::string>()->value_name("NAME"),
        "of the files and of the function; by default that of the model");
    add("training",
        "with the programs that give gradients, and for a model with a loss training_step");
    add("decoding",
        "with prefill and decode_step, which read a text and go on with it token by token");
    add("sources-only",
        "DIR/<model>.h, DIR/<model>.cpp and DIR/<model>_c.cpp alone, where a build has the "
        "runtime");
    add("single-file",
        "DIR/<model>.h and DIR/<model>.cpp alone, which hold what they need of the runtime, for "
        "the one instruction set of --isa");
    add("python", "a Python package, for `pip install DIR`, with a library that is compiled now");
    add("depfile", po::value<std::string>()->value_name("FILE"),
        "say there, for make and ninja, what DIR/<model>.cpp was made of");
    add("target", po::value<std::string>()->value_name("cpu|ptx"), "cpu by default");
    add_fusion_option(options);
    add_isa_option(options);
    add_schedule_option(options);
    add_settings_option(options);
    return {{"generate",
             "write a model's C++, with all that it needs",
             "MODEL",
             "Writes DIR/<model>.h, DIR/<model>.cpp, DIR/<model>_c.cpp,\n"
             "DIR/CMakeLists.txt and DIR/fovea, a copy of the runtime; for ptx\n"
             "DIR/<model>.<sm>.ptx and DIR/<model>.launches.json. With --python a package\n"
             "for Python.",
             {{"a folder for add_subdirectory() of a CMake project",
               "fovea generate add_norm -o add_norm"},
              {"two files to compile with a program of yours",
               "fovea generate add_norm --single-file --isa baseline -o add_norm"},
              {"a package for Python, with gradients for PyTorch",
               "fovea generate add_norm --training --python --isa baseline -o add_norm"},
              {"a decoder that goes on with texts in a program of yours",
               "fovea generate gpt2 --decoding --isa baseline --set n_layer=2 -o gpt2"},
              {"a model of yours that trains",
               "fovea generate my_model.cpp:my_model --set hidden=24 --training -o my_model"}}},
            options,
            generate_model};
}

}  // namespace fovea::tool
