// Epochs, what is written after them, and how a training ends.
#include "training_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "../error.h"
#include "finite.h"
#include "interrupt.h"

namespace fovea::runtime {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return std::max(passed.count(), 1e-9);
}

}  // namespace

TrainingRun::TrainingRun(const Model& model, Training& training, const TrainPaths& paths,
                         TrainingEnd end)
    : training_(training),
      paths_(paths),
      end_(end),
      split_(split_examples(training.data.count(), training.settings.validation,
                            training.settings.seed, training.data.examples())),
      trainer_(model, training),
      measuring_(model, training.data.measuring_program(), training.parameters),
      files_(training, paths) {
    if (!paths.log.empty()) log_ = TrainingLog(paths.log, training.position.epoch);
}

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
    training_.data.arrange(order, static_cast<std::size_t>(settings.batch), settings.seed, epoch);
    return order;
}

bool TrainingRun::is_at_last_step() const {
    return end_.steps > 0 && training_.position.step >= static_cast<std::uint64_t>(end_.steps);
}

bool TrainingRun::is_done() const {
    const TrainingPosition& position = training_.position;
    const auto epochs = static_cast<std::uint64_t>(end_.epochs);
    const auto patience = static_cast<std::uint64_t>(end_.patience);
    return is_at_last_step() || position.epoch >= epochs ||
           (patience > 0 && position.best_epoch > 0 &&
            position.epoch >= position.best_epoch + patience);
}

int TrainingRun::run() {
    const InterruptNotice notice;
    try {
        const int signal = run_epochs();
        if (signal == 0) finish();
        return signal;
    } catch (const Divergence& error) {
        throw UserError(error.what() + files_.kept());
    }
}

int TrainingRun::run_epochs() {
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
    EpochProgress progress(position.epoch + 1, end_.epochs, steps_an_epoch());
    while (position.step_in_epoch < steps_an_epoch()) {
        const double gradient_norm = run_step(examples).gradient_norm;
        const double loss = position.loss_sum / static_cast<double>(position.tokens);
        progress.update(position.step_in_epoch, loss);
        if (position.step_in_epoch == steps_an_epoch() || is_at_last_step()) {
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
    // One that ends with the training, in its midst, can be gone on with.
    if (position.step_in_epoch == steps_an_epoch())
        position = {.step = position.step,
                    .epoch = result.epoch,
                    .best_epoch = position.best_epoch,
                    .best_loss = position.best_loss};
    if (!split_.validation.empty())
        result.validation = measure(measuring_, training_.data, split_.validation,
                                    static_cast<std::size_t>(training_.settings.batch));
    progress.finish(result);
    // Before the checkpoint: lines of epochs that it does not know are cut off on --resume.
    log_.add(result);
    if (result.validation) keep_best(result.validation->loss, result.epoch);
    if (is_done() || seconds_since(saved_) >= kSecondsBetween) {
        files_.try_checkpoint();
        saved_ = Clock::now();
    }
    last_loss_ = result.loss;
}

void TrainingRun::keep_best(double loss, std::uint64_t epoch) {
    TrainingPosition& position = training_.position;
    if (!std::isfinite(loss))
        throw Divergence(
            "the loss on the held out {} is not finite after epoch {}; train again "
            "with a smaller --lr",
            {training_.data.examples(), epoch});
    if (position.best_epoch > 0 && loss >= position.best_loss) return;
    files_.keep_weights();
    position.best_epoch = epoch;
    position.best_loss = loss;
}

int TrainingRun::stop(int signal) {
    files_.checkpoint();
    log_.finish();
    std::fprintf(stderr, "stopped at step %llu by signal %d; --resume goes on from '%s'\n",
                 static_cast<unsigned long long>(training_.position.step), signal,
                 paths_.checkpoint.c_str());
    return signal;
}

void TrainingRun::finish() {
    if (split_.validation.empty()) files_.save_last_weights();
    files_.finish();
    log_.finish();
}

void TrainingRun::print_summary() const {
    const TrainingPosition& position = training_.position;
    if (!last_loss_) {
        std::printf(
            "nothing left to train after %llu %s\n",
            static_cast<unsigned long long>(is_at_last_step() ? position.step : position.epoch),
            is_at_last_step() ? "steps" : "epochs");
        return;
    }
    const double seconds = seconds_since(start_);
    std::printf("loss %.4f per token, perplexity %.4g, %.1f seconds, %.0f tokens/s\n", *last_loss_,
                std::exp(*last_loss_), seconds, static_cast<double>(tokens_) / seconds);
    if (position.best_epoch == 0) return;
    std::printf("'%s' holds the weights of epoch %llu, whose loss on the held out %s is %.4f\n",
                paths_.weights.c_str(), static_cast<unsigned long long>(position.best_epoch),
                training_.data.examples(), position.best_loss);
}

}  // namespace fovea::runtime
