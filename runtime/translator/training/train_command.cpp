// `train`: reads pairs, trains, and writes weights, checkpoints and a log.
#include <cstdio>

#include "../../device/choose_device.h"
#include "../../runner/threads_option.h"
#include "../../trainer/run_training.h"
#include "../commands.h"
#include "../limits.h"
#include "../reads_padding.h"
#include "../vocabulary_dims.h"
#include "pair_data.h"

namespace fovea::runtime {

namespace {

Options train_options(const std::string& program) {
    using Kind = OptionKind;
    Options options(program + " train", "Trains on sentence pairs and writes the weights.");
    options.add(
        {"data", Kind::text, "F.tsv", "UTF-8, a pair a line: source, tab, target", {}, true});
    add_output_options(options);
    options.add(count_option("pairs", "the first N pairs (default all)", kMostExamples))
        .add(count_option("steps", "tokens a sentence is cut or padded to", kMostSteps, "10"))
        .add(count_option("group-lengths", "batches that share out pairs by length: less padding",
                          kMostAtATime, "1"))
        .add(count_option("min-freq", "rarer words are <unk>", kMostExamples, "2"))
        .add({"bpe", Kind::text, "F.json",
              "byte pairs in place of words: the pieces that tools/learn_bpe.py wrote"});
    add_training_options(options, {});
    options.example("on pairs of sentences", "--data pairs.tsv --weights weights.safetensors")
        .example("the same, after it was interrupted",
                 "--data pairs.tsv --weights weights.safetensors --resume")
        .example("until pairs that are held out gain nothing more",
                 "--data pairs.tsv --weights weights.safetensors --epochs 100 --validation 0.1 "
                 "--patience 3 --log log.jsonl");
    return options;
}

PairOptions pair_options(const Options& options, const Model& model) {
    refuse_unless(!options.given("bpe"), options, "min-freq", "trainings without --bpe");
    return {
        .limit = options.given("pairs") ? static_cast<std::size_t>(options.integer("pairs")) : 0,
        .tokens = {options.integer("min-freq"),
                   options.given("bpe") ? options.text("bpe") : std::string()},
        .steps = static_cast<std::size_t>(options.integer("steps")),
        .group = options.integer("group-lengths"),
        .whole_sources = reads_padding(model)};
}

/// The files that a training reads.
std::vector<NamedPath> read_paths(const Options& options) {
    std::vector<NamedPath> paths = {{"--data", options.text("data")}};
    if (options.given("bpe")) paths.push_back({"--bpe", options.text("bpe")});
    return paths;
}

}  // namespace

int train_command(const std::string& program, Arguments arguments, const Model& generated) {
    Options options = train_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    const Model model = device::choose_device(generated, options.text("device"));
    const TrainPaths paths = train_paths(options, read_paths(options));
    const PairOptions pairs = pair_options(options, model);
    const TrainingSettings settings = training_settings(options, model);
    const std::string path = options.text("data");
    const PairData data = read_pair_data(path, pairs);
    const std::string& origin = pairs.tokens.pieces.empty() ? path : pairs.tokens.pieces;
    Parameters parameters(model, vocabulary_dims(model, data.words().source, data.words().target,
                                                 "the vocabulary of '" + origin + "'"));
    return run_training(
        {model, data, settings, paths, training_end(options), options.flag("resume")}, parameters,
        [&] { parameters.initialize(settings.seed); });
}

}  // namespace fovea::runtime
