#include "tests/nvptx/model_kernels.h"

#include "models/registry.h"
#include "tests/alike_models.h"
#include "tools/fovea/programs.h"

namespace fovea::test {
namespace {

ModelKernels kernels_of(const ModelEntry& entry, bool fused, bool bfloat16) {
    SettingValues values = entry.small_settings;
    if (bfloat16) values.emplace_back("dtype", "bf16");
    const Fusion fusion(fused);
    const tool::LoadedModel model = tool::load_model(entry.name, values);
    std::vector<ProgramRequest> requests = tool::runner_programs(model, fusion);
    auto others = entry.driver == Driver::translator ? tool::translator_programs(model, fusion)
                                                     : tool::extra_programs(model, fusion);
    for (ProgramRequest& request : others) requests.push_back(std::move(request));
    return {entry.name,
            bfloat16 ? "bf16"
            : fused  ? ""
                     : "unfused",
            tool::compile(model, std::move(requests), tool::Kernels::of_gpu).plan.kernels};
}

}  // namespace

const std::vector<ModelKernels>& all_model_kernels() {
    static const std::vector<ModelKernels> all = [] {
        std::vector<ModelKernels> result;
        for (const ModelEntry& entry : models::built_in_models()) {
            if (is_like_another(entry.name)) continue;
            result.push_back(kernels_of(entry, true, false));
            result.push_back(kernels_of(entry, false, false));
            result.push_back(kernels_of(entry, true, true));
        }
        return result;
    }();
    return all;
}

}  // namespace fovea::test
