#include "tools/fovea/fuzz/compile_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "codegen/kernel/print.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/schedule/schedule_option.h"

namespace fovea::tool::fuzz {

namespace {

/// The programs of the runner with all outputs: those with gradients, where there are any, and
/// where the schedule lets small tensors be shared, those that share them.
std::vector<ProgramRequest> whole_programs(const LoadedModel& model, Fusion fusion) {
    std::vector<ProgramRequest> requests = runner_programs(model, fusion);
    const bool share = model.targets.cpu.cpu.sharing.least_bytes < target::CpuSharing().least_bytes;
    if (has_gradient(model.graph) && !share)
        std::erase_if(requests, [](const ProgramRequest& request) {
            return request.gradients == Gradients::none;
        });
    return requests;
}

}  // namespace

LoadedModel model_of(const Recipe& recipe, const std::string& suffix) {
    LoadedModel model;
    model.graph = build(recipe).graph;
    model.entry.name = recipe.name + suffix;
    model.entry.source = recipe.name + ".cpp";
    model.dtype = recipe.dtype;
    model.tf32 = recipe.tf32;
    read_schedule(recipe.schedule, "drawn", model.targets);
    return model;
}

std::vector<Compiled> compile_forms(const std::vector<Recipe>& recipes,
                                    const std::vector<Outcome>& outcomes, const std::string& target,
                                    Kernels kernels) {
    std::vector<Compiled> all;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        if (outcomes[i].kind != Outcome::Kind::right) continue;
        std::vector<std::string> known;
        for (const Compilation& form : kCompilations) {
            const LoadedModel model = model_of(
                recipes[i], fmt::format("_{}", std::distance(std::begin(kCompilations), &form)));
            CompiledModel compiled = compile(model, whole_programs(model, form.fusion), kernels);
            std::string text;
            for (const kernel::Kernel& kernel : compiled.plan.kernels) text += print(kernel);
            if (std::find(known.begin(), known.end(), text) != known.end()) continue;
            known.push_back(text);
            all.push_back({i, fmt::format("{}, {}", form.name, target), std::move(compiled)});
        }
    }
    return all;
}

namespace {

/// One by one, where together they do not compile: those that do not alone are wrong.
std::vector<const runtime::Model*> load_each(const std::vector<Compiled>& all,
                                             const std::string& isa,
                                             std::vector<Outcome>& outcomes) {
    std::vector<const runtime::Model*> loaded;
    for (const Compiled& one : all) {
        try {
            loaded.push_back(load_together({&one.model.plan}, isa, Optimized::little).front());
        } catch (const InternalError& error) {
            loaded.push_back(nullptr);
            outcomes[one.recipe] = {.kind = Outcome::Kind::wrong,
                                    .where = one.where + ": internal error",
                                    .what = error.what()};
        }
    }
    return loaded;
}

}  // namespace

std::vector<const runtime::Model*> load_all(const std::vector<Compiled>& all,
                                            const std::string& isa,
                                            std::vector<Outcome>& outcomes) {
    std::vector<const plan::Model*> plans;
    for (const Compiled& one : all) plans.push_back(&one.model.plan);
    try {
        return load_together(plans, isa, Optimized::little);
    } catch (const InternalError&) {
        return load_each(all, isa, outcomes);
    }
}

}  // namespace fovea::tool::fuzz
