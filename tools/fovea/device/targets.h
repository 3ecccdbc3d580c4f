// Where `run` and `verify` run kernels: on this machine's cores, in the interpreter of PTX, or on
// a GPU.
#pragma once

#include <memory>
#include <string>

#include "codegen/plan/plan.h"
#include "runtime/device/device.h"
#include "runtime/program.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/programs.h"

namespace fovea::tool {

/// Adds `--target` and, for PTX, `--arch`.
void add_target_options(po::options_description& options, const char* unset = "cpu");

/// A target as the options name it.
struct Target {
    std::string name;          // reference, cpu, ptx-interpreter, cuda
    std::string architecture;  // whose PTX the interpreter runs: sm_80, sm_90, sm_90a
};
/// UserError for names that are none, where this build of fovea writes no PTX, and, for cuda,
/// where there is no driver or no device.
Target target_of(const Arguments& given);
/// The same, and whether there is a driver and a device is not asked.
Target named_target(const Arguments& given);

/// Whether its kernels are PTX.
bool is_ptx(const Target& target);
/// How weights and activations lie in memory where the setting `dtype` does not say it: as bfloat16
/// for PTX, as float32 otherwise.
DType unset_dtype(const Target& target);
Kernels kernels_of(const Target& target);

/// The target cuda; UserError as above.
Target cuda_target();

/// The device of ptx-interpreter or cuda, and whose PTX it runs.
struct OpenTarget {
    std::shared_ptr<runtime::device::Device> device;
    std::string architecture;
};
OpenTarget open_target(const Target& target);

/// The model ready to run on a target other than the reference. Instances of its programs work
/// alike on each.
std::shared_ptr<const runtime::Model> model_on(const Target& target, const plan::Model& model,
                                               DType dtype,
                                               Optimized optimized = Optimized::as_shipped);

}  // namespace fovea::tool
