#include "tools/fovea/device/targets.h"

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "runtime/device/cuda_device.h"
#include "runtime/device/on_device.h"
#include "tools/fovea/device/device_code.h"
#include "tools/fovea/device/interpreter_device.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"

namespace fovea::tool {

namespace device = runtime::device;

void add_target_options(po::options_description& options, const char* unset) {
    auto add = options.add_options();
    add("target", po::value<std::string>()->value_name("cpu|reference|ptx-interpreter|cuda"),
        (std::string(unset) + " by default").c_str());
    add("arch", po::value<std::string>()->value_name("sm_80|sm_90|sm_90a"),
        "whose PTX the interpreter runs; sm_90 by default");
}

Target named_target(const Arguments& given) {
    const Target target = {given.choice("target", {"cpu", "reference", "ptx-interpreter", "cuda"}),
                           given.choice("arch", {"sm_90", "sm_80", "sm_90a"})};
    if (is_ptx(target))
        if (const auto reason = emit::why_not_ptx()) throw UserError(*reason);
    return target;
}

Target target_of(const Arguments& given) {
    const Target target = named_target(given);
    if (target.name == "cuda") device::open_cuda();
    return target;
}

bool is_ptx(const Target& target) {
    return target.name == "ptx-interpreter" || target.name == "cuda";
}

DType unset_dtype(const Target& target) { return is_ptx(target) ? DType::bf16 : DType::f32; }

Kernels kernels_of(const Target& target) {
    return is_ptx(target) ? Kernels::of_gpu : Kernels::of_cpu;
}

Target cuda_target() {
    if (const auto reason = emit::why_not_ptx()) throw UserError(*reason);
    device::open_cuda();
    return {"cuda", ""};
}

OpenTarget open_target(const Target& target) {
    if (target.name != "cuda") return {std::make_shared<InterpreterDevice>(), target.architecture};
    std::shared_ptr<device::Device> gpu = device::open_cuda();
    const std::string best = gpu->choose(emit::ptx_architectures());
    if (best.empty())
        throw UserError(gpu->name() + " is older than the GPUs that fovea writes PTX for (sm_80)");
    return {std::move(gpu), best};
}

std::shared_ptr<const runtime::Model> model_on(const Target& target, const plan::Model& model,
                                               DType dtype, Optimized optimized) {
    if (target.name == "cpu") {
        const runtime::Model& generated =
            load_generated(model, isa_of_this_machine({dtype, plan::has_stored_weights(model)}),
                           Keep::in_cache, optimized);
        return {&generated, [](const runtime::Model*) {}};  // stays loaded
    }
    const OpenTarget open = open_target(target);
    auto code =
        std::make_shared<const device::Code>(compile_for_devices(model, {open.architecture}));
    return std::make_shared<const runtime::Model>(
        device::on_device(description_of(model), open.device, code));
}

}  // namespace fovea::tool
