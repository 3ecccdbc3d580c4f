#include "train_text_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "../../checkpoint/checkpoint_folder.h"
#include "../../checkpoint/read_checkpoint.h"
#include "../../device/choose_device.h"
#include "../../error.h"
#include "../../files/files.h"
#include "../../load_parameters.h"
#include "../../runner/bind_dims.h"
#include "../../runner/threads_option.h"
#include "../../trainer/finite.h"
#include "../../trainer/limits.h"
#include "../../trainer/run_training.h"
#include "../adapter.h"
#include "../adapter_config.h"
#include "../text_sizes.h"
#include "text_data.h"

namespace fovea::runtime {

namespace {

Options train_text_options(const std::string& program) {
    using Kind = OptionKind;
    Options options(program + " train", "Trains on texts and writes the weights.");
    options.add({.name = "data",
                 .kind = Kind::text,
                 .value_name = "FILE",
                 .help = "a text, the whole file",
                 .required = true,
                 .repeated = true});
    add_output_options(options);
    options
        .add({"tokenizer", Kind::text, "FILE|DIR",
              "tokenizer.json, or the folder that has it (default that of --init; without one "
              "tokens are bytes)"})
        .add({"end", Kind::text, "TOKEN",
              "a token behind each text, by its number or its name (default none), for --stop of "
              "generate"})
        .add({"init", Kind::text, "FILE|DIR",
              "weights to start from: safetensors, or the folder of a checkpoint"})
        .add(adapter_option())
        .add({"initializer-range", Kind::positive_number, "X",
              "else: the standard deviation of initial embeddings", "0.02"})
        .add(count_option(
            "len", "tokens of the windows that texts are cut into, at most the model's positions",
            kMostSteps, "128"))
        .add(count_option("steps", "ends after N steps", kMostTotalSteps));
    add_training_options(
        options, {.batch = "16", .epochs = "10", .learning_rate = "0.001", .optimizer = "adamw"});
    options
        .example("a model of bytes, from nothing", "--data book.txt --weights weights.safetensors")
        .example("a checkpoint goes on with a text of yours",
                 "--data book.txt --init DIR --lr 2e-5 --epochs 2 --weights weights.safetensors")
        .example("until what is held out gains nothing more",
                 "--data book.txt --weights weights.safetensors --epochs 100 --validation 0.1 "
                 "--patience 3 --log log.jsonl");
    return options;
}

/// The tokenizer.json that is to be read.
std::optional<std::string> tokenizer_path(const Options& options) {
    if (!options.given("tokenizer"))
        return options.given("init") ? tokenizer_beside(options.text("init")) : std::nullopt;
    std::error_code error;
    std::string path = options.text("tokenizer");
    if (!std::filesystem::is_directory(path, error)) return path;
    if (const std::optional<std::string> inside = tokenizer_beside(path)) return inside;
    throw UserError("'{}' is a folder without tokenizer.json", {path});
}

/// The files that a training reads.
std::vector<NamedPath> files_read(const Options& options) {
    std::vector<NamedPath> paths;
    for (const std::string& path : options.all("data")) paths.push_back({"--data", path});
    for (const char* name : {"tokenizer", "init", "adapter"})
        if (options.given(name)) paths.push_back({std::string("--") + name, options.text(name)});
    return paths;
}

TextTokens tokens_to_train_on(const Options& options, const SafetensorsFile* start) {
    if (const std::optional<std::string> path = tokenizer_path(options))
        return TextTokens::of_tokenizer(*path);
    if (start)
        if (std::optional<TextTokens> theirs = TextTokens::of_weights(*start)) return *theirs;
    return TextTokens::of_bytes();
}

/// How many tokens the model's logits are of: a size, or a dim.
Extent classes_of(const Model& model) {
    for (const Program& program : model.programs)
        for (const TensorSpec& output : program.outputs)
            if (output.name == "logits" && !output.shape.empty()) return output.shape.back();
    return 0;
}

/// `--set vocab_size=256`, or in words where the model has no such setting.
std::string vocabulary_of(std::int64_t size, const Model& model) {
    const bool has_setting =
        std::ranges::find(model.settings, "vocab_size", &Setting::name) != model.settings.end();
    return (has_setting ? "--set vocab_size=" : "a vocabulary of ") + std::to_string(size);
}

void verify_ids(const Model& model, const TextData& data) {
    const Extent classes = classes_of(model);
    if (!classes.is_constant() || data.largest() < classes.value({})) return;
    const std::int64_t size = classes.value({});
    const auto least = static_cast<std::int64_t>(data.text_tokens().size());
    if (data.text_tokens().are_bytes() && size < 256)
        throw UserError(
            "texts are read as bytes, with ids up to 255, but this {} has a vocabulary of {}: "
            "build it with {}, or give --tokenizer",
            {model.name, size, vocabulary_of(256, model)});
    throw UserError(
        "the text has the token {}, but this {} has a vocabulary of {}: build it with {}",
        {data.largest(), model.name, size,
         vocabulary_of(std::max<std::int64_t>(least, data.largest() + 1), model)});
}

/// Sizes of parameters that the model leaves open: those of the file that a training starts from,
/// else the vocabulary.
DimValues open_sizes(const Model& model, const SafetensorsFile* start, const TextTokens& tokens) {
    if (start) return dims_of_parameters(model, *start);
    const int dim = classes_of(model).as_dim();
    if (dim < 0) return {};
    return {{model.dims[static_cast<std::size_t>(dim)], static_cast<std::int64_t>(tokens.size())}};
}

/// Parameters that are drawn from a normal distribution are embeddings.
void draw_parameters(Parameters& parameters, std::uint64_t seed, double deviation) {
    parameters.initialize(seed);
    const auto factor = static_cast<float>(deviation);
    for (std::size_t i = 0; i < parameters.count(); ++i)
        if (parameters.model().parameters[i].initial == Initial::normal)
            for (float& value : parameters.values(i)) value *= factor;
    parameters.mark_changed();
}

/// The weights that a training starts from.
void load_start(Parameters& parameters, const SafetensorsFile& file, const Options& options) {
    load_adapted(parameters, file, options);
    if (const std::string name = first_not_finite(parameters); !name.empty())
        throw UserError(
            "no training starts from '{}': it holds values that are not finite, the first in '{}'",
            {file.path(), name});
}

}  // namespace

int train_text_command(const std::string& program, const Model& generated,
                       std::span<const char* const> arguments) {
    Options options = train_text_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    const TextDims dims = text_dims(generated);
    const Model model = device::choose_device(generated, options.text("device"));
    const TrainPaths paths = train_paths(options, files_read(options));
    TrainingEnd end = training_end(options);
    if (options.given("steps")) end.steps = options.integer("steps");
    const TrainingSettings settings = training_settings(options, model, end.steps);
    if (dims.batch.empty() && settings.batch != 1)
        throw UserError("this {} reads one text at a time: give --batch 1", {model.name});
    std::optional<SafetensorsFile> start;
    if (options.given("init")) start.emplace(read_checkpoint(model, options.text("init")));
    if (start) {
        fit_names(*start, names_of_weights(model));
        verify_trained(*start, model);
    }
    if (options.given("adapter")) verify_has_pairs_alone(model, options.text("adapter"));
    if (has_pairs(model) && !start)
        throw UserError(
            "this {} was built with --lora: give the weights that it trains beside by "
            "--init",
            {model.name});
    const SafetensorsFile* file = start ? &*start : nullptr;
    const TextTokens tokens = tokens_to_train_on(options, file);
    std::vector<std::string> texts;
    for (const std::string& path : options.all("data")) texts.push_back(tokens.read_text(path));
    std::optional<std::int32_t> end_of_text;
    if (options.given("end")) end_of_text = read_token(options.text("end"), "--end", &tokens);
    const std::int64_t length = length_within_positions(model, options, "len", "a window of --len");
    const TextData data(tokens, texts, length, dims, end_of_text);
    verify_ids(model, data);
    Parameters parameters(model, open_sizes(model, file, data.text_tokens()));
    const auto initialize = [&] {
        draw_parameters(parameters, settings.seed, options.number("initializer-range"));
        if (file) load_start(parameters, *file, options);
    };
    TrainingPlan plan{model, data, settings, paths, end, options.flag("resume")};
    if (has_pairs(model)) plan.saved = {.only_trained = true, .prefix = kAdapterPrefix};
    const int status = run_training(plan, parameters, initialize);
    if (status == 0 && has_pairs(model)) write_adapter_config(model, paths.weights);
    return status;
}

}  // namespace fovea::runtime
