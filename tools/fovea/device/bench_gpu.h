// `fovea bench --target cuda`: what the kernels of a GPU reach.
#pragma once

#include <string>
#include <vector>

#include "tools/fovea/bench/bench_row.h"
#include "tools/fovea/device/targets.h"

namespace fovea::tool {

/// Matrix products, attention forward and backward, and a training step of the paper's base model,
/// in bfloat16, products in tf32, too, by the clock of the device: around each launch of products
/// and attention, whose copies and host do not count, and around a whole step. `suite`:
/// contraction, attention or models; empty: all.
struct GpuBench {
    std::string device;
    std::vector<BenchRow> rows;

    std::string table() const;
    std::string json() const;  // {"machine": {"gpu"}, "results": […]}
};

struct GpuBenchOptions {
    bool quick = false;  // tiny sizes, which measure nothing
    /// Measures when told to, line by line on standard input, so that others can have their turns
    /// in between; there are no rows then.
    bool in_turns = false;
    target::Target target = target::gpu_target();
};
GpuBench bench_gpu(const Target& target, const std::string& suite, GpuBenchOptions options);

}  // namespace fovea::tool
