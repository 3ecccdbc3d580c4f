// The values of each target that differ from those the descriptions start with.
#include "codegen/target/target.h"

#include <algorithm>

#include "codegen/base/error.h"

namespace fovea::target {

namespace {

constexpr int kKilobyte = 1024;

const std::vector<Gpu>& all_gpus() {
    static const std::vector<Gpu> all = {
        {.architecture = "sm_80", .most_shared_bytes = 163 * kKilobyte},
        {.architecture = "sm_90", .most_shared_bytes = 227 * kKilobyte},
        {.architecture = "sm_90a", .wgmma = true, .most_shared_bytes = 227 * kKilobyte}};
    return all;
}

}  // namespace

std::vector<std::string> architectures() {
    std::vector<std::string> names;
    for (const Gpu& gpu : all_gpus()) names.push_back(gpu.architecture);
    return names;
}

Gpu gpu_of(const std::string& architecture) {
    std::string known;
    for (const Gpu& gpu : all_gpus()) {
        if (gpu.architecture == architecture) return gpu;
        known += (known.empty() ? "" : ", ") + gpu.architecture;
    }
    throw UserError("PTX is not written for " + architecture + "; use one of " + known);
}

Gpu gpu_of(const Target& target, const std::string& architecture) {
    for (const Gpu& gpu : target.gpus)
        if (gpu.architecture == architecture) return gpu;
    return gpu_of(architecture);
}

Target cpu_target() {
    Target target;
    target.lowering.product_blocks = 4;  // a thread sums over rows that it computed itself
    return target;
}

Target gpu_target() {
    Target target;
    target.lowering.row_blocks = 128;  // nearly the number of multiprocessors
    target.lowering.weights = Weights::as_they_are;
    target.lowering.replicated_numbers = 0;
    target.lowering.loss.chunk_floats = 3 * 1024 * 1024;
    target.lowering.loss.least_rows = 64;  // tiles of tensor cores
    target.lowering.independent_tiles = true;
    target.lowering.attention.tasks = 1;
    target.gpus = all_gpus();
    return target;
}

}  // namespace fovea::target
