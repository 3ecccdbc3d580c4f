// `fovea quantize`: weights of floats as the whole numbers that programs of a model take.
#include <fmt/format.h>

#include "codegen/base/error.h"
#include "runtime/language/quantize_command.h"
#include "runtime/threads.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/device/device_code.h"
#include "tools/fovea/programs.h"

namespace fovea::tool {

namespace {

/// What `--to` and `--group` ask for, or the setting `weights`.
runtime::WeightStorage storage_of(const Arguments& given, WeightStorage set) {
    if (!given.has("to")) {
        if (!set)
            throw UserError(
                "fovea quantize needs --to int8 or --to int4: the numbers that the weights become");
        if (given.has("group"))
            throw UserError(fmt::format(
                "--group is for --to: write --set weights=int{}:{}, or --to int{} --group {}",
                set.bits, given.text("group"), set.bits, given.text("group")));
        return {set.bits, set.group};
    }
    if (set)
        throw UserError(fmt::format(
            "--to and --set weights={} ask for numbers twice: leave out one", text_of(set)));
    return runtime::chosen_storage(given.text("to"),
                                   given.whole("group", {1, 1 << 24}, WeightStorage::kUsualGroup));
}

/// Which weights become numbers is for all programs that are built of a model to say.
std::vector<ProgramRequest> programs_of(const LoadedModel& model) {
    std::vector<ProgramRequest> requests = runner_programs(model, Fusion());
    for (ProgramRequest& program : model.entry.driver == Driver::translator
                                       ? translation_programs(model, Fusion())
                                       : language_programs(model, Fusion()))
        requests.push_back(std::move(program));
    return requests;
}

int quantize_file(const Arguments& given) {
    if (!given.has("weights") && !given.has(kCheckpointOption))
        throw UserError("fovea quantize needs --weights, or --checkpoint");
    const std::string weights = given.text(given.has("weights") ? "weights" : kCheckpointOption);
    const std::string& output = given.text("output");
    if (const std::int64_t threads = given.whole("threads", kThreads, 0))
        runtime::set_threads(threads);
    const runtime::WeightStorage storage = storage_of(given, weights_of(given.settings()));
    LoadedModel model = load_model(given, given.model());
    model.weights = {storage.bits, storage.group};
    const CompiledModel compiled = compile(model, programs_of(model));
    runtime::quantize_weights(description_of(compiled.plan), storage, weights, output);
    return 0;
}

}  // namespace

Command quantize_command() {
    po::options_description options("Options");
    auto add = options.add_options();
    auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    add("weights", text("F"),
        "safetensors with the parameters, or the folder of a checkpoint; that of --checkpoint "
        "where there is one");
    add("to", text("int8|int4"), "the numbers that weights become (required)");
    add("group", text("N"),
        "how many numbers share a scale, a multiple of 16 up to 4096; 32 by default");
    add("output,o", text("FILE"), "the safetensors to write (required)");
    add("threads", text("N"), "one per core by default");
    add_settings_option(options);
    return {
        {"quantize",
         "make weights of 8 or 4 bits",
         "MODEL",
         "Writes weights of floats as whole numbers of 8 or 4 bits with scales, and prints how\n"
         "far each weight is off. Programs of the model with --set weights=int8 (or int4,\n"
         "int8:64 for groups of 64) take them.",
         {{"of 8 bits",
           "fovea quantize my_model.cpp:my_model --to int8 --weights weights.safetensors -o "
           "small.safetensors"},
          {"of 4 bits with a scale for each 64 numbers",
           "fovea quantize my_model.cpp:my_model --to int4 --group 64 --weights "
           "weights.safetensors -o small.safetensors"}}},
        options,
        quantize_file};
}

}  // namespace fovea::tool
