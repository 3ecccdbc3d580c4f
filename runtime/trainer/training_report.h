// What a training tells while it runs: progress on standard error, a log of JSON lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../files/locked_file.h"
#include "measure.h"
#include "progress.h"

namespace fovea::runtime {

/// What an epoch measured.
struct EpochResult {
    std::uint64_t epoch = 0, step = 0;  // epochs and steps done
    double loss = 0;                    // mean cross entropy of a token, in nats
    double tokens_per_second = 0;       // that the loss is of
    double learning_rate = 0;
    double grad_norm = 0;  // of the last step, before clipping
    std::optional<Measured> validation = {};
};

/// A file of JSON lines, one an epoch. A line that can't be written gives a warning, and is written
/// with the next one.
class TrainingLog {
  public:
    /// No log.
    TrainingLog() = default;
    /// Keeps the lines of the first `epochs` epochs that are there, and appends; with 0 the file is
    /// emptied. UserError when it can't be opened, or another training writes it.
    TrainingLog(const std::string& path, std::uint64_t epochs);
    /// Writes a line at once.
    void add(const EpochResult& epoch);
    /// UserError where lines are not written.
    void finish();

  private:
    void keep_epochs(std::uint64_t epochs);
    /// Writes what is not written; 0, or the error.
    int write();

    std::string path_, unwritten_;
    Descriptor file_;
    bool is_regular_ = false;
};

/// How much of a log's text stays when the training goes on behind `epochs`: up to the first line
/// of a later epoch, or one that was not written to its end.
std::size_t kept_length(std::string_view log, std::uint64_t epochs);

/// Progress of one epoch: a bar on a terminal; in a pipe a line when the epoch ends, and on the way
/// only where that takes long.
class EpochProgress {
  public:
    EpochProgress(std::uint64_t epoch, std::int64_t epochs, std::size_t batches);
    /// `loss` per token so far.
    void update(std::uint64_t batches_done, double loss);
    void finish(const EpochResult& result);

  private:
    using Clock = std::chrono::steady_clock;

    Progress progress_;
    Clock::time_point last_line_ = Clock::now();
};

}  // namespace fovea::runtime
