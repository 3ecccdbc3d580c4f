// What a training tells while it runs: progress on standard error, a log of JSON lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "../progress.h"
#include "validation.h"

namespace fovea::runtime {

/// What an epoch measured.
struct EpochResult {
    std::uint64_t epoch = 0, step = 0;  // epochs and steps done
    double loss = 0;                    // mean cross entropy per target token, in nats
    double tokens_per_second = 0;       // target tokens
    double learning_rate = 0;
    double grad_norm = 0;  // of the last step, before clipping
    std::optional<Score> validation = {};
};

/// A file of JSON lines, one an epoch.
class TrainingLog {
  public:
    /// No log.
    TrainingLog() = default;
    /// Empties the file, or keeps what is there and appends; UserError when it can't be opened.
    TrainingLog(const std::string& path, bool appends);
    /// Writes a line at once; UserError when that fails.
    void add(const EpochResult& epoch);

  private:
    std::string path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

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
