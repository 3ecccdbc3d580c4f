// One measured kernel or model: what it did, how long it took, and against which peak.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace fovea::tool {

/// The median, the first and the last tenth and the least of the samples, in milliseconds.
struct Milliseconds {
    double median = 0, p10 = 0, p90 = 0, best = 0;
    int runs = 0;
};

/// What is measured. Floating point operations and bytes are those that the work needs, not those
/// that some code spends: attention counts visible pairs only, bytes are operands read and results
/// written once.
struct Work {
    std::string suite, name, pass;  // pass: forward, backward or step
    std::map<std::string, std::int64_t> dims;
    double flops = 0, bytes = 0;
    std::string method = "program";  // or, for parts of a program, "observed kernels"
    std::string dtype = "f32";
    /// What no program can beat: `floor_flops` at the peak plus `floor_bytes` at the read
    /// bandwidth. Models only; 0 and 0: no floor is given.
    double floor_flops = 0, floor_bytes = 0;
};

struct BenchRow {
    Work work;
    int threads = 1;
    Milliseconds ms;
    /// Of bursts before the runs: the median and the best.
    double peak_gflops = 0, best_peak_gflops = 0;
    std::optional<double> floor_ms;

    double gflops() const { return work.flops / ms.median / 1e6; }
    double fraction() const { return gflops() / peak_gflops; }
    /// Of the fastest run, in the best peak.
    double best_fraction() const { return work.flops / ms.best / 1e6 / best_peak_gflops; }
    double gb_s() const { return work.bytes / ms.median / 1e6; }
    double times_floor() const { return ms.median / floor_ms.value_or(ms.median); }
};

}  // namespace fovea::tool
