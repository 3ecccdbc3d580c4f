// The options of trainings, and what they mean together.
#include "train_options.h"

#include <vector>

#include "../device/choose_device.h"
#include "../error.h"
#include "../runner/threads_option.h"
#include "limits.h"
#include "output_paths.h"

namespace fovea::runtime {

namespace {

/// The value of an option that names one of `values`.
template <class Value>
Value choice(const Options& options, const std::string& name, const std::vector<Value>& values) {
    std::vector<std::string> names;
    for (const Value value : values) {
        names.push_back(name_of(value));
        if (options.text(name) == names.back()) return value;
    }
    std::string all;
    for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
    throw UserError("option '--" + name + "' expects one of " + all + ", not '" +
                    options.text(name) + "'" + suggestion(options.text(name), names));
}

double model_width(const Model& model) {
    for (const char* name : {"d_model", "hidden", "hidden_size", "n_embd"})
        for (const Setting& setting : model.settings)
            if (setting.name == name)
                if (const auto width = parse_integer(setting.value)) return double(*width);
    throw UserError(
        "--schedule paper needs a model with a setting 'd_model', 'hidden', 'hidden_size' or "
        "'n_embd'; {} has none",
        {model.name});
}

LearningRate learning_rate(const Options& options, const Model& model, std::int64_t steps) {
    LearningRate rate;
    rate.schedule = choice(options, "schedule",
                           std::vector{Schedule::constant, Schedule::cosine, Schedule::paper});
    rate.rate = options.number("lr");
    rate.warmup = static_cast<std::uint64_t>(options.integer("warmup"));
    refuse_unless(rate.schedule == Schedule::cosine, options, "total-steps", "--schedule cosine");
    if (rate.schedule == Schedule::cosine) {
        if (!options.given("total-steps") && steps == 0)
            throw UserError("--schedule cosine needs --total-steps, after which the rate is 0");
        rate.total = static_cast<std::uint64_t>(
            options.given("total-steps") ? options.integer("total-steps") : steps);
        if (rate.total <= rate.warmup)
            throw UserError("--total-steps " + std::to_string(rate.total) +
                            " should be above --warmup " + std::to_string(rate.warmup));
    }
    if (rate.schedule == Schedule::paper) {
        if (rate.warmup == 0) throw UserError("--schedule paper needs --warmup, 4000 in the paper");
        rate.width = model_width(model);
    }
    return rate;
}

OptimizerSettings optimizer_settings(const Options& options) {
    OptimizerSettings settings;
    settings.kind =
        choice(options, "optimizer",
               std::vector{OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::sgd});
    const bool is_sgd = settings.kind == OptimizerKind::sgd;
    refuse_unless(is_sgd, options, "momentum", "--optimizer sgd");
    for (const char* name : {"beta1", "beta2", "epsilon"})
        refuse_unless(!is_sgd, options, name, "--optimizer adam and adamw");
    settings.momentum = options.number("momentum");
    settings.beta1 = options.number("beta1");
    settings.beta2 = options.number("beta2");
    settings.epsilon = options.number("epsilon");
    settings.weight_decay = options.number("weight-decay");
    return settings;
}

}  // namespace

void refuse_unless(bool fits, const Options& options, const std::string& name,
                   const std::string& what) {
    if (options.given(name) && !fits)
        throw UserError("option '--" + name + "' is for " + what + " alone");
}

void add_output_options(Options& options) {
    using Kind = OptionKind;
    options.add({"weights", Kind::text, "OUT", "written when the training is done", {}, true})
        .add({"checkpoint", Kind::text, "F",
              "written after epochs, at most once a second (default OUT.checkpoint)"});
}

void add_training_options(Options& options, const TrainDefaults& defaults) {
    using Kind = OptionKind;
    options.add(count_option("batch", "examples at a time", kMostAtATime, defaults.batch))
        .add(count_option("accumulate", "batches whose gradients are added for a step",
                          kMostAtATime, "1"))
        .add(count_option("epochs", "times through the data", kMostEpochs, defaults.epochs))
        .add({"lr", Kind::positive_number, "X", "the (highest) learning rate",
              defaults.learning_rate})
        .add({"schedule", Kind::text, "NAME", "constant, cosine, or paper (--lr is its factor)",
              "constant"})
        .add({.name = "warmup",
              .kind = Kind::whole,
              .value_name = "N",
              .help = "steps over which the rate rises linearly",
              .default_text = "0",
              .most = kMostTotalSteps})
        .add(count_option("total-steps", "steps after which a cosine is 0", kMostTotalSteps))
        .add({"optimizer", Kind::text, "NAME", "adam, adamw or sgd", defaults.optimizer})
        .add({"beta1", Kind::probability, "X", "of the first moment", "0.9"})
        .add({"beta2", Kind::probability, "X", "of the second moment", "0.999"})
        .add({"epsilon", Kind::positive_number, "X", "beside the second moment's root", "1e-8"})
        .add({"momentum", Kind::probability, "X", "of sgd", "0"})
        .add({"weight-decay", Kind::number_from_zero, "X", "as PyTorch's optimizers have it", "0"})
        .add({"clip", Kind::number_from_zero, "X", "the gradient's largest norm, 0: any", "1"})
        .add({"validation", Kind::probability, "X",
              "the share of the data held out to measure; the weights of the best epoch are kept",
              "0"})
        .add(count_option("patience", "stops after N epochs that do no better on what is held out",
                          kMostEpochs))
        .add({"seed", Kind::whole, "N", "of initial values, order and dropout", "1"})
        .add({"resume", Kind::flag, "", "go on from the checkpoint"})
        .add({"log", Kind::text, "F.jsonl", "a line of JSON an epoch"})
        .add(device::device_option())
        .add(threads_option());
}

TrainPaths train_paths(const Options& options, const std::vector<NamedPath>& read) {
    TrainPaths paths;
    paths.weights = options.text("weights");
    paths.checkpoint =
        options.given("checkpoint") ? options.text("checkpoint") : paths.weights + ".checkpoint";
    if (options.given("log")) paths.log = options.text("log");
    std::vector<NamedPath> written{{"--weights", paths.weights},
                                   {"--checkpoint", paths.checkpoint}};
    if (!paths.log.empty()) written.push_back({"--log", paths.log});
    verify_writable(paths.weights);
    verify_writable(paths.checkpoint);
    if (!paths.log.empty()) verify_writable(paths.log);
    verify_distinct(written, read);
    return paths;
}

TrainingSettings training_settings(const Options& options, const Model& model, std::int64_t steps) {
    TrainingSettings settings;
    settings.batch = options.integer("batch");
    settings.accumulate = options.integer("accumulate");
    settings.learning_rate = learning_rate(options, model, steps);
    settings.optimizer = optimizer_settings(options);
    settings.clip = options.number("clip");
    settings.validation = options.number("validation");
    refuse_unless(settings.validation > 0, options, "patience", "trainings with --validation");
    settings.seed = static_cast<std::uint64_t>(options.integer("seed"));
    return settings;
}

TrainingEnd training_end(const Options& options) {
    return {.epochs = options.integer("epochs"),
            .patience = options.given("patience") ? options.integer("patience") : 0};
}

}  // namespace fovea::runtime
