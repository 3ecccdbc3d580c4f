// Repeated measurements of one piece of work, between measurements of the machine.
#pragma once

#include <functional>
#include <vector>

#include "codegen/target/target.h"
#include "tools/fovea/bench/bench_row.h"
#include "tools/fovea/bench/machine.h"
#include "tools/fovea/compiler.h"

namespace fovea::tool {

/// How long one piece of work is repeated: at least `least_runs` times and `seconds` in all, at
/// most `most_runs` times.
struct Effort {
    int least_runs = 5, most_runs = 100;
    double seconds = 0.5;
};

/// Percentiles of times in milliseconds; `times` is not empty.
Milliseconds milliseconds_of(std::vector<double> times);

/// Calls `sample`, which runs once and gives its milliseconds, as often as `effort` says, after a
/// call that does not count.
Milliseconds repeat(const Effort& effort, const std::function<double()>& sample);

/// The mean of samples in a row that take `milliseconds` in all, of one at least.
double mean_of_runs(double milliseconds, const std::function<double()>& sample);

/// Milliseconds that `run` takes.
double milliseconds_of(const std::function<void()>& run);

/// Measures work against the machine. Other users of it change its peak and its bandwidth from
/// second to second: before every run there is a burst of arithmetic and, where a floor counts
/// bytes, a read of as many. The median of the runs is compared with the medians of these. Short
/// runs are taken in a row, as in a loop of training: each finds its data where the one before left
/// it.
class Bench {
  public:
    /// Is told of each row when it is measured.
    using OnRow = std::function<void(const BenchRow&)>;

    /// With `quick`, few runs of each piece, of programs that are hardly optimized. Programs are
    /// compiled for `target`.
    Bench(bool quick, target::Target target, OnRow on_row = {});

    bool quick() const { return quick_; }
    Optimized optimized() const { return quick_ ? Optimized::little : Optimized::as_shipped; }
    const target::Target& target() const { return target_; }
    const Machine& machine() const { return machine_; }
    BenchRow measure(const Work& work, const std::function<double()>& sample);

  private:
    bool quick_;
    target::Target target_;
    OnRow on_row_;
    MachineProbe probe_;
    Machine machine_;  // its rates are the largest seen
    double sum_of_shares_ = 0;  // that it gave of its peak, one for each row
    int measured_ = 0;
};

}  // namespace fovea::tool
