// `fovea page`: a model that translates, with its weights, as one page for browsers.
#include <fmt/format.h>

#include <filesystem>

#include "codegen/base/error.h"
#include "runtime/files/files.h"
#include "runtime/translator/weights_file.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/device/device_code.h"
#include "tools/fovea/files/home.h"
#include "tools/fovea/files/runtime_archive.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/process.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/schedule/schedule_option.h"
#include "tools/fovea/wasm/link_wasm.h"
#include "tools/fovea/wasm/page_text.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;

std::string function_text(const std::string& name) {
    return fmt::format(R"(#include "fovea/translator/translate_to_json.h"

const fovea::runtime::Model& {0}_model();

extern "C" const char* fovea_translate(const char* weights, const char* sentence) {{
    return fovea::runtime::translate_for_page({0}_model(), weights, sentence);
}}
)",
                       name);
}

/// The program as JavaScript that holds its WebAssembly.
std::string page_program(const plan::Model& plan) {
    const std::vector<std::string> isas = {"wasm"};
    TemporaryFolder folder;
    write_generated(plan, folder.path(), isas);
    fs::create_directory_symlink(find_home().sources / "runtime", folder.path() / "fovea");
    write_temporary(folder.path() / "page.cpp", function_text(generated_name(plan)));
    std::vector<std::string> objects = compile_objects(plan, folder.path(), isas, {}, {"page.cpp"});
    objects.push_back(runtime_archive_for("wasm", folder.path()).string());
    return link_wasm(objects, folder.path(), WasmHost::page, {"fovea_translate"});
}

std::string bytes_of_file(const std::string& path) {
    const std::vector<std::byte> bytes = runtime::read_file(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int write_page(const Arguments& given) {
    const std::string &output = given.text("output"), &weights = given.text("weights");
    find_compiler_for("wasm");
    LoadedModel model = load_model(given, given.model());
    if (model.entry.driver != Driver::translator)
        throw UserError(fmt::format(
            "{} does not translate: pages are of models whose built program does", given.model()));
    model.targets = targets_of(given);
    const Fusion fusion = fusion_of(given);
    // The first program has all parameters.
    std::vector<ProgramRequest> programs = {runner_program(model, false, false, fusion)};
    for (ProgramRequest& program : translation_programs(model, fusion))
        programs.push_back(std::move(program));
    const CompiledModel compiled = compile(model, std::move(programs));
    const runtime::Model description = description_of(compiled.plan);
    runtime::load_trained_model(weights, description);  // what is wrong is told here, not there
    TranslatorPage page{.title = given.text_or("title", model.entry.name),
                        .program = page_program(compiled.plan),
                        .weights = bytes_of_file(weights),
                        .sentences = {}};
    if (given.has("text")) page.sentences = given.all("text");
    const std::string text = page_text(page);
    runtime::write_file_atomically(output, text);
    fmt::print("{} ({:.2f} MB)\n", output, double(text.size()) / 1e6);
    return 0;
}

}  // namespace

Command page_command() {
    po::options_description options("Options");
    auto add = options.add_options();
    add("output,o", po::value<std::string>()->value_name("FILE"), "the page to write (required)");
    add("weights", po::value<std::string>()->value_name("FILE"),
        "what the built program's train wrote (required)");
    add("title", po::value<std::string>()->value_name("TEXT"), "by default the model's name");
    add("text", po::value<std::vector<std::string>>()->value_name("TEXT"),
        "a sentence that the page offers, the first of which it begins with; repeatable");
    add_fusion_option(options);
    add_schedule_option(options);
    add_settings_option(options);
    return {{"page",
             "a page for browsers that translates",
             "MODEL",
             "Writes one HTML page that translates by a trained model and shows where it\n"
             "looked. It holds the program, as WebAssembly, and the weights: it needs no\n"
             "network and no server, and is opened from a disk. It is compiled by em++\n"
             "(apt install emscripten).",
             {{"of a translator that was built and trained with these settings; takes minutes",
               "fovea page transformer --set hidden=64 --weights weights.safetensors -o page.html"},
              {"with a title and sentences that it offers; takes minutes",
               "fovea page transformer --set hidden=64 --weights weights.safetensors --title "
               "'English to "
               "French' --text 'I am tired.' -o page.html"}}},
            options,
            write_page};
}

}  // namespace fovea::tool
