// The epochs of one training, from wherever it stands.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "epoch_order.h"
#include "trainer.h"
#include "training_files.h"
#include "training_report.h"

namespace fovea::runtime {

class TrainingRun {
  public:
    TrainingRun(const Model& model, Training& training, const TrainPaths& paths, TrainingEnd end);

    /// Runs to the end, with checkpoints after epochs: not more than one a second, and the last.
    /// Returns the signal that ended it before, or 0; the weights are then written. UserError where
    /// it diverges, or a file could not be written at last.
    int run();
    /// The last line.
    void print_summary() const;

  private:
    std::size_t examples_a_step() const;
    std::uint64_t steps_an_epoch() const;
    std::vector<std::uint32_t> order() const;
    bool is_at_last_step() const;
    bool is_done() const;
    int run_epochs();
    int run_epoch();
    StepResult run_step(std::span<const std::uint32_t> order);
    void end_epoch(EpochResult result, EpochProgress& progress);
    void keep_best(double loss, std::uint64_t epoch);
    int stop(int signal);
    void finish();

    Training& training_;
    const TrainPaths& paths_;
    const TrainingEnd end_;
    const Split split_;
    Trainer trainer_;
    Instance measuring_;
    TrainingFiles files_;
    TrainingLog log_;
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now(), saved_ = start_;
    std::int64_t tokens_ = 0;  // of this run
    std::optional<double> last_loss_;
};

}  // namespace fovea::runtime
