// `train`: reads pairs, trains, and writes weights, checkpoints and a log.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "../error.h"
#include "../options.h"
#include "../threads.h"
#include "commands.h"
#include "interrupt.h"
#include "output_paths.h"
#include "trainer.h"
#include "training_report.h"
#include "vocabulary_dims.h"

namespace fovea::runtime {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::max(std::chrono::duration<double>(Clock::now() - start).count(), 1e-9);
}

Options train_options(const std::string& program) {
    using Kind = OptionKind;
    Options options(program + " train", "Trains on sentence pairs and writes the weights.");
    options
        .add({"data", Kind::text, "F.tsv", "UTF-8, a pair a line: source, tab, target", {}, true})
        .add({"weights", Kind::text, "OUT", "written when the training is done", {}, true})
        .add({"checkpoint", Kind::text, "F",
              "written after epochs, at most once a second (default OUT.checkpoint)"})
        .add({"pairs", Kind::positive_whole, "N", "the first N pairs (default all)"})
        .add({"steps", Kind::positive_whole, "N", "tokens a sentence is cut or padded to", "10"})
        .add({"batch", Kind::positive_whole, "N", "pairs a training step", "64"})
        .add({"epochs", Kind::positive_whole, "N", "times through the data", "30"})
        .add({"lr", Kind::positive_number, "X", "Adam's learning rate", "0.005"})
        .add({"min-freq", Kind::positive_whole, "N", "rarer words are <unk>", "2"})
        .add({"clip", Kind::number, "X", "the gradient's largest norm, 0: any", "1"})
        .add({"seed", Kind::whole, "N", "of initial values, order and dropout", "1"})
        .add({"resume", Kind::flag, "", "go on from the checkpoint"})
        .add({"log", Kind::text, "F.jsonl", "a line of JSON an epoch"})
        .add({"threads", Kind::positive_whole, "N", "(default one per core)"});
    return options;
}

struct TrainPaths {
    std::string data, weights, checkpoint, log;  // log: empty for none
};

TrainPaths paths_of(const Options& options) {
    TrainPaths paths;
    paths.data = options.text("data");
    paths.weights = options.text("weights");
    paths.checkpoint =
        options.given("checkpoint") ? options.text("checkpoint") : paths.weights + ".checkpoint";
    if (options.given("log")) paths.log = options.text("log");
    return paths;
}

void verify_paths(const TrainPaths& paths) {
    std::vector<NamedPath> named = {
        {"--data", paths.data}, {"--weights", paths.weights}, {"--checkpoint", paths.checkpoint}};
    verify_writable(paths.weights);
    verify_writable(paths.checkpoint);
    if (!paths.log.empty()) {
        named.push_back({"--log", paths.log});
        verify_writable(paths.log);
    }
    verify_distinct(named);
}

TrainingSettings settings_of(const Options& options) {
    TrainingSettings settings;
    settings.steps = options.integer("steps");
    settings.batch = options.integer("batch");
    settings.min_freq = options.integer("min-freq");
    settings.learning_rate = options.number("lr");
    settings.clip = options.number("clip");
    settings.seed = static_cast<std::uint64_t>(options.integer("seed"));
    if (settings.clip < 0) throw UserError("option '--clip' expects a number from 0");
    return settings;
}

/// The epochs of one training, from wherever it stands.
class TrainingRun {
  public:
    TrainingRun(const Model& model, Training& training, const TrainPaths& paths, bool resumes)
        : training_(training), paths_(paths), trainer_(model, training) {
        if (!paths.log.empty()) log_ = TrainingLog(paths.log, resumes);
    }

    /// Runs up to `epochs`, with checkpoints after them: not more than one a second, and the last.
    /// Returns the signal that ended it, or 0.
    int run(std::int64_t epochs);
    /// The last line.
    void print_summary() const;

  private:
    std::uint64_t batches() const;
    int run_epoch(std::int64_t epochs);
    StepResult run_step(std::span<const std::uint32_t> order);
    void end_epoch(EpochResult result, bool is_last, EpochProgress& progress);
    int stop(int signal);

    Training& training_;
    const TrainPaths& paths_;
    Trainer trainer_;
    TrainingLog log_;
    Clock::time_point start_ = Clock::now(), saved_ = start_;
    std::int64_t tokens_ = 0;  // of this run
    std::optional<double> last_loss_;
};

std::uint64_t TrainingRun::batches() const {
    const auto batch = static_cast<std::size_t>(training_.settings.batch);
    return (training_.data.examples.count + batch - 1) / batch;
}

int TrainingRun::run(std::int64_t epochs) {
    const InterruptNotice notice;
    while (training_.position.epoch < static_cast<std::uint64_t>(epochs)) {
        const int signal = run_epoch(epochs);
        const bool is_done = training_.position.epoch == static_cast<std::uint64_t>(epochs);
        if (signal != 0 && !is_done) return stop(signal);
    }
    return 0;
}

int TrainingRun::run_epoch(std::int64_t epochs) {
    TrainingPosition& position = training_.position;
    const auto order =
        epoch_order(training_.data.examples.count, training_.settings.seed, position.epoch);
    const Clock::time_point start = Clock::now();
    const std::int64_t tokens_before = tokens_;
    EpochProgress progress(position.epoch + 1, epochs, batches());
    double gradient_norm = 0;
    while (position.batch < batches()) {
        gradient_norm = run_step(order).gradient_norm;
        const double loss = position.loss_sum / static_cast<double>(position.tokens);
        progress.update(position.batch, loss);
        if (position.batch == batches()) {
            const double speed =
                static_cast<double>(tokens_ - tokens_before) / seconds_since(start);
            end_epoch({position.epoch + 1, position.step, loss, speed,
                       training_.settings.learning_rate, gradient_norm},
                      position.epoch + 1 == static_cast<std::uint64_t>(epochs), progress);
            return InterruptNotice::received();
        }
        if (const int signal = InterruptNotice::received()) return signal;
    }
    throw UserError("'" + paths_.checkpoint + "' stands behind the last batch of its epoch");
}

StepResult TrainingRun::run_step(std::span<const std::uint32_t> order) {
    TrainingPosition& position = training_.position;
    const auto size = static_cast<std::size_t>(training_.settings.batch);
    const std::size_t first = position.batch * size;
    const StepResult result =
        trainer_.step(order.subspan(first, std::min(size, order.size() - first)));
    ++position.step;
    ++position.batch;
    position.loss_sum += result.loss_sum;
    position.tokens += result.tokens;
    tokens_ += result.tokens;
    return result;
}

void TrainingRun::end_epoch(EpochResult result, bool is_last, EpochProgress& progress) {
    constexpr double kSecondsBetween = 1;
    training_.position = {training_.position.step, result.epoch, 0, 0, 0};
    if (is_last || seconds_since(saved_) >= kSecondsBetween) {
        save_checkpoint(paths_.checkpoint, training_);
        saved_ = Clock::now();
    }
    progress.finish(result);
    log_.add(result);
    last_loss_ = result.loss;
}

int TrainingRun::stop(int signal) {
    save_checkpoint(paths_.checkpoint, training_);
    std::fprintf(stderr, "stopped at step %llu by signal %d; --resume goes on from '%s'\n",
                 static_cast<unsigned long long>(training_.position.step), signal,
                 paths_.checkpoint.c_str());
    return signal;
}

void TrainingRun::print_summary() const {
    if (!last_loss_) {
        std::printf("nothing left to train after %llu epochs\n",
                    static_cast<unsigned long long>(training_.position.epoch));
        return;
    }
    const double seconds = seconds_since(start_);
    std::printf("loss %.4f per token, %.1f seconds, %.0f tokens/s\n", *last_loss_, seconds,
                static_cast<double>(tokens_) / seconds);
}

void resume(const TrainPaths& paths, std::int64_t epochs, Training& training) {
    load_checkpoint(paths.checkpoint, training);
    const TrainingPosition& position = training.position;
    const std::uint64_t begun = position.epoch + (position.batch > 0 ? 1 : 0);
    if (begun <= static_cast<std::uint64_t>(epochs)) return;
    throw UserError("'" + paths.checkpoint + "' is in epoch " + std::to_string(begun) +
                    ", behind --epochs " + std::to_string(epochs));
}

}  // namespace

int train_command(const std::string& program, Arguments arguments, const Model& model) {
    Options options = train_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    set_threads(options.given("threads") ? options.integer("threads") : thread_count());
    const TrainPaths paths = paths_of(options);
    const TrainingSettings settings = settings_of(options);
    verify_paths(paths);
    const TrainingData data = read_training_data(
        paths.data, options.given("pairs") ? static_cast<std::size_t>(options.integer("pairs")) : 0,
        settings.min_freq, static_cast<std::size_t>(settings.steps));
    Parameters parameters(model, vocabulary_dims(model, data.source, data.target,
                                                 "the vocabulary of '" + paths.data + "'"));
    Optimizer optimizer(parameters.flat_size());
    Training training{data, settings, parameters, optimizer, {}};
    const std::int64_t epochs = options.integer("epochs");
    if (options.flag("resume")) {
        resume(paths, epochs, training);
    } else {
        parameters.initialize(settings.seed);
    }
    TrainingRun run(model, training, paths, options.flag("resume"));
    if (const int signal = run.run(epochs)) return 128 + signal;
    save_weights(paths.weights, parameters, header_of(training));
    run.print_summary();
    return 0;
}

}  // namespace fovea::runtime
