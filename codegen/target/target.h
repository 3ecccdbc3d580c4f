// What programs are compiled for, and the numbers that were chosen or measured for it: passes,
// lowering and emitters are given one description. What one form of a kernel is written for, such
// as the tile of a product on tensor cores, stands with the form.
// `fovea show --stage schedule` prints it, `--schedule FILE` changes it (schedule_text.h).
#pragma once

#include <string>
#include <vector>

#include "codegen/target/cpu.h"
#include "codegen/target/gpu.h"
#include "codegen/target/lowering.h"

namespace fovea::target {

/// CPUs, or with `gpus` those architectures, older ones first, for which kernels are lowered once.
struct Target {
    Lowering lowering{};
    Cpu cpu{};
    std::vector<Gpu> gpus{};

    bool is_gpu() const { return !gpus.empty(); }
};

/// The architectures that PTX can be written for: sm_80, sm_90, sm_90a.
std::vector<std::string> architectures();
/// UserError for another name.
Gpu gpu_of(const std::string& architecture);

/// The one among the target's that is called so, or where it has none, as `gpu_of` describes it.
Gpu gpu_of(const Target& target, const std::string& architecture);

Target cpu_target();
Target gpu_target();

/// Both, as one command compiles for them.
struct Targets {
    Target cpu = cpu_target(), gpu = gpu_target();
};

}  // namespace fovea::target
