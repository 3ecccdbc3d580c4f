// `fovea bench --target cuda`: what the kernels of a GPU reach.
#pragma once

#include <string>
#include <vector>

#include "tools/fovea/bench/bench_row.h"
#include "tools/fovea/device/targets.h"

namespace fovea::tool {

/// Matrix products, attention forward and backward, and a training step of the paper's base model,
/// in bfloat16, by the clock of the device around each launch: copies and the host do not count.
/// `suite`: contraction, attention or models; empty: all. `quick`: tiny sizes, which measure
/// nothing.
struct GpuBench {
    std::string device;
    std::vector<BenchRow> rows;

    std::string table() const;
    std::string json() const;  // {"machine": {"gpu"}, "results": […]}
};
GpuBench bench_gpu(const Target& target, const std::string& suite, bool quick);

}  // namespace fovea::tool
