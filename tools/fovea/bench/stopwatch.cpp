#include "tools/fovea/bench/stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "codegen/base/error.h"
#include "tools/fovea/progress.h"

namespace fovea::tool {

namespace {

/// How long short runs are taken in a row: a few times as long as a burst, after which the first
/// finds caches that it did not fill.
constexpr double kRunMilliseconds = 10;

double median_of(const std::vector<double>& sorted) {
    const std::size_t last = sorted.size() - 1;
    return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2;
}

}  // namespace

Milliseconds milliseconds_of(std::vector<double> times) {
    if (times.empty()) throw InternalError("bench: nothing was timed");
    std::sort(times.begin(), times.end());
    const std::size_t last = times.size() - 1;
    return {.median = median_of(times),
            .p10 = times[last / 10],
            .p90 = times[last - last / 10],
            .best = times[0],
            .runs = int(times.size())};
}

Milliseconds repeat(const Effort& effort, const std::function<double()>& sample) {
    sample();
    std::vector<double> times;
    double sum = 0;
    auto enough = [&] {
        const int runs = int(times.size());
        return runs >= effort.most_runs ||
               (runs >= effort.least_runs && sum >= 1000 * effort.seconds);
    };
    while (!enough()) {
        times.push_back(sample());
        sum += times.back();
    }
    return milliseconds_of(std::move(times));
}

double milliseconds_of(const std::function<void()>& run) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    run();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double mean_of_runs(double milliseconds, const std::function<double()>& sample) {
    constexpr int kMost = 1000;
    double sum = 0;
    int runs = 0;
    do {
        sum += sample();
        ++runs;
    } while (sum < milliseconds && runs < kMost);
    return sum / runs;
}

Bench::Bench(bool quick, target::Target target, OnRow on_row)
    : quick_(quick),
      target_(std::move(target)),
      on_row_(std::move(on_row)),
      machine_(probe_.measure()) {}

BenchRow Bench::measure(const Work& work, const std::function<double()>& sample) {
    BenchRow row{.work = work, .threads = machine_.threads, .ms = {}, .floor_ms = {}};
    // Without products of bfloat16, they are widened: the peak is that of float32.
    const bool pairs = work.dtype == "bf16" && machine_.bf16_peak_gflops > 0;
    std::vector<double> peaks, reads;  // GFLOP/s and GB/s before each run
    Progress progress(fmt::format("measuring {}, {}", work.name, work.pass));
    const auto paired = [&] {
        peaks.push_back(pairs ? probe_.bf16_gflops() : probe_.gflops());
        if (work.floor_bytes > 0) reads.push_back(probe_.read_gb_s(work.floor_bytes));
        return mean_of_runs(quick_ ? 0 : kRunMilliseconds, sample);
    };
    const Effort few{.least_runs = 3, .most_runs = 3, .seconds = 0};
    row.ms = repeat(quick_ ? few : Effort{}, paired);
    std::sort(peaks.begin(), peaks.end());
    row.peak_gflops = median_of(peaks);
    row.best_peak_gflops = peaks.back();
    double& peak = pairs ? machine_.bf16_peak_gflops : machine_.peak_gflops;
    peak = std::max(peak, row.best_peak_gflops);
    const double share = row.peak_gflops / peak;
    sum_of_shares_ += share;
    machine_.quiet = sum_of_shares_ / ++measured_;
    machine_.least_share = std::min(machine_.least_share, share);
    if (work.floor_flops > 0) row.floor_ms = work.floor_flops / row.peak_gflops / 1e6;
    if (!reads.empty()) {
        std::sort(reads.begin(), reads.end());
        machine_.read_gb_s = std::max(machine_.read_gb_s, reads.back());
        const double bandwidth = median_of(reads);
        row.floor_ms = row.floor_ms.value_or(0) + work.floor_bytes / bandwidth / 1e6;
    }
    Progress::clear();
    if (on_row_) on_row_(row);
    return row;
}

}  // namespace fovea::tool
