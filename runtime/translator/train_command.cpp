// `train`: reads pairs, trains, and writes weights, checkpoints and a log.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "../device/choose_device.h"
#include "../error.h"
#include "../threads.h"
#include "commands.h"
#include "interrupt.h"
#include "reads_padding.h"
#include "train_options.h"
#include "trainer.h"
#include "training_report.h"
#include "validation.h"
#include "vocabulary_dims.h"

namespace fovea::runtime {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::max(std::chrono::duration<double>(Clock::now() - start).count(), 1e-9);
}

/// The epochs of one training, from wherever it stands.
class TrainingRun {
  public:
    TrainingRun(const Model& model, Training& training, const TrainPaths& paths, bool resumes)
        : training_(training),
          paths_(paths),
          split_(split_examples(training.data.examples.count, training.settings.validation,
                                training.settings.seed)),
          trainer_(model, training),
          evaluation_(model, "evaluate", training.parameters) {
        if (!paths.log.empty()) log_ = TrainingLog(paths.log, resumes);
    }

    /// Runs up to `epochs`, with checkpoints after them: not more than one a second, and the last.
    /// Ends before that when `patience` epochs (0: any number) have not lowered the loss of the
    /// held out pairs. Returns the signal that ended it, or 0.
    int run(std::int64_t epochs, std::int64_t patience);
    /// The last line.
    void print_summary() const;

  private:
    std::size_t examples_a_step() const;
    std::uint64_t steps_an_epoch() const;
    std::vector<std::uint32_t> order() const;
    bool is_done() const;
    int run_epoch();
    StepResult run_step(std::span<const std::uint32_t> order);
    void end_epoch(EpochResult result, EpochProgress& progress);
    void keep_best(double loss);
    int stop(int signal);

    Training& training_;
    const TrainPaths& paths_;
    const Split split_;
    Trainer trainer_;
    Instance evaluation_;
    TrainingLog log_;
    Clock::time_point start_ = Clock::now(), saved_ = start_;
    std::int64_t tokens_ = 0;  // of this run
    std::uint64_t epochs_ = 0, patience_ = 0;
    std::optional<double> last_loss_;
};

std::size_t TrainingRun::examples_a_step() const {
    return static_cast<std::size_t>(training_.settings.batch * training_.settings.accumulate);
}

std::uint64_t TrainingRun::steps_an_epoch() const {
    return (split_.training.size() + examples_a_step() - 1) / examples_a_step();
}

/// The examples of the epoch that is under way.
std::vector<std::uint32_t> TrainingRun::order() const {
    const TrainingSettings& settings = training_.settings;
    const std::uint64_t epoch = training_.position.epoch;
    std::vector<std::uint32_t> order = epoch_order(split_.training.size(), settings.seed, epoch);
    for (std::uint32_t& number : order) number = split_.training[number];
    const auto batch = static_cast<std::size_t>(settings.batch);
    if (settings.group > 1)
        group_by_length(order, training_.data.examples, batch,
                        batch * static_cast<std::size_t>(settings.group), settings.seed, epoch);
    return order;
}

bool TrainingRun::is_done() const {
    const TrainingPosition& position = training_.position;
    return position.epoch >= epochs_ || (patience_ > 0 && position.best_epoch > 0 &&
                                         position.epoch >= position.best_epoch + patience_);
}

int TrainingRun::run(std::int64_t epochs, std::int64_t patience) {
    const InterruptNotice notice;
    epochs_ = static_cast<std::uint64_t>(epochs);
    patience_ = static_cast<std::uint64_t>(patience);
    while (!is_done()) {
        const int signal = run_epoch();
        if (signal != 0 && !is_done()) return stop(signal);
    }
    return 0;
}

int TrainingRun::run_epoch() {
    TrainingPosition& position = training_.position;
    const std::vector<std::uint32_t> examples = order();
    const Clock::time_point start = Clock::now();
    const std::int64_t tokens_before = tokens_;
    EpochProgress progress(position.epoch + 1, static_cast<std::int64_t>(epochs_),
                           steps_an_epoch());
    double gradient_norm = 0;
    while (position.step_in_epoch < steps_an_epoch()) {
        gradient_norm = run_step(examples).gradient_norm;
        const double loss = position.loss_sum / static_cast<double>(position.tokens);
        progress.update(position.step_in_epoch, loss);
        if (position.step_in_epoch == steps_an_epoch()) {
            const double speed =
                static_cast<double>(tokens_ - tokens_before) / seconds_since(start);
            end_epoch({.epoch = position.epoch + 1,
                       .step = position.step,
                       .loss = loss,
                       .tokens_per_second = speed,
                       .learning_rate = training_.settings.learning_rate.at(position.step),
                       .grad_norm = gradient_norm},
                      progress);
            return InterruptNotice::received();
        }
        if (const int signal = InterruptNotice::received()) return signal;
    }
    throw UserError("'" + paths_.checkpoint + "' stands behind the last step of its epoch");
}

StepResult TrainingRun::run_step(std::span<const std::uint32_t> order) {
    TrainingPosition& position = training_.position;
    const std::size_t first = position.step_in_epoch * examples_a_step();
    const StepResult result =
        trainer_.step(order.subspan(first, std::min(examples_a_step(), order.size() - first)));
    ++position.step;
    ++position.step_in_epoch;
    position.loss_sum += result.loss_sum;
    position.tokens += result.tokens;
    tokens_ += result.tokens;
    return result;
}

void TrainingRun::end_epoch(EpochResult result, EpochProgress& progress) {
    constexpr double kSecondsBetween = 1;
    TrainingPosition& position = training_.position;
    position = {.step = position.step,
                .epoch = result.epoch,
                .best_epoch = position.best_epoch,
                .best_loss = position.best_loss};
    if (!split_.validation.empty()) {
        result.validation = score_examples(evaluation_, training_.data.examples, split_.validation,
                                           static_cast<std::size_t>(training_.settings.batch));
        keep_best(result.validation->loss);
    }
    if (is_done() || seconds_since(saved_) >= kSecondsBetween) {
        save_checkpoint(paths_.checkpoint, training_);
        saved_ = Clock::now();
    }
    progress.finish(result);
    log_.add(result);
    last_loss_ = result.loss;
}

void TrainingRun::keep_best(double loss) {
    TrainingPosition& position = training_.position;
    if (position.best_epoch > 0 && loss >= position.best_loss) return;
    position.best_epoch = position.epoch;
    position.best_loss = loss;
    save_weights(paths_.weights, training_.parameters, header_of(training_));
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
    const TrainingPosition& position = training_.position;
    if (position.best_epoch == 0) return;
    std::printf("'%s' holds the weights of epoch %llu, whose loss on the held out pairs is %.4f\n",
                paths_.weights.c_str(), static_cast<unsigned long long>(position.best_epoch),
                position.best_loss);
}

void resume(const TrainPaths& paths, std::int64_t epochs, Training& training) {
    load_checkpoint(paths.checkpoint, training);
    const TrainingPosition& position = training.position;
    const std::uint64_t begun = position.epoch + (position.step_in_epoch > 0 ? 1 : 0);
    if (begun <= static_cast<std::uint64_t>(epochs)) return;
    throw UserError("'" + paths.checkpoint + "' is in epoch " + std::to_string(begun) +
                    ", behind --epochs " + std::to_string(epochs));
}

}  // namespace

int train_command(const std::string& program, Arguments arguments, const Model& generated) {
    Options options = train_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    set_threads(options.given("threads") ? options.integer("threads") : thread_count());
    const Model model = device::choose_device(generated, options.text("device"));
    const TrainPaths paths = train_paths(options);
    const TrainingSettings settings = training_settings(options, model);
    TrainingData data = read_training_data(
        paths.data, options.given("pairs") ? static_cast<std::size_t>(options.integer("pairs")) : 0,
        {settings.min_freq, paths.pieces}, static_cast<std::size_t>(settings.steps));
    data.examples.whole_sources = reads_padding(model);
    const std::string& origin = paths.pieces.empty() ? paths.data : paths.pieces;
    Parameters parameters(model, vocabulary_dims(model, data.source, data.target,
                                                 "the vocabulary of '" + origin + "'"));
    Optimizer optimizer(parameters.flat_size(), settings.optimizer);
    Training training{data, settings, parameters, optimizer, {}};
    const std::int64_t epochs = options.integer("epochs");
    if (options.flag("resume")) {
        resume(paths, epochs, training);
    } else {
        parameters.initialize(settings.seed);
    }
    TrainingRun run(model, training, paths, options.flag("resume"));
    const std::int64_t patience = options.given("patience") ? options.integer("patience") : 0;
    if (const int signal = run.run(epochs, patience)) return 128 + signal;
    if (settings.validation == 0) save_weights(paths.weights, parameters, header_of(training));
    run.print_summary();
    return 0;
}

}  // namespace fovea::runtime
