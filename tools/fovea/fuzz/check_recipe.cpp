#include "tools/fovea/fuzz/check_recipe.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <sstream>

#include "tools/fovea/fuzz/check_generated.h"
#include "tools/fovea/fuzz/check_stages.h"
#include "tools/fovea/fuzz/compile_forms.h"
#include "tools/fovea/fuzz/run_apart.h"
#include "tools/fovea/fuzz/wrong.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/schedule/draw_schedule.h"

namespace fovea::tool::fuzz {

namespace {

/// A program takes a fraction of a second, and the interpreter of PTX a few.
constexpr MostSeconds kMostSeconds{.of_cores = 240, .in_all = 1200};

/// An outcome as a child process says it: a line of numbers, where, what, in lines.
std::string say(const Outcome& outcome) {
    const Counts& counts = outcome.counts;
    return fmt::format("{} {} {} {} {} {} {}\n{}\n{}", int(outcome.kind), outcome.scale,
                       counts.elements, counts.unbounded, counts.slopes, counts.untold,
                       counts.unkept, outcome.where, outcome.what);
}
Outcome heard(const Apart& apart) {
    if (!apart.answered) return {.kind = Outcome::Kind::wrong, .where = "crash", .what = apart.end};
    Outcome outcome;
    std::istringstream text(apart.answer);
    int kind = 0;
    text >> kind >> outcome.scale >> outcome.counts.elements >> outcome.counts.unbounded >>
        outcome.counts.slopes >> outcome.counts.untold >> outcome.counts.unkept;
    outcome.kind = Outcome::Kind(kind);
    text.ignore();
    std::getline(text, outcome.where);
    std::getline(text, outcome.what, '\0');
    return outcome;
}

template <class F>
Outcome apart(F&& f) {
    return heard(run_apart(
        [&]() -> std::string {
            try {
                return say(f());
            } catch (const Wrong& wrong) {
                return say(
                    {.kind = Outcome::Kind::wrong, .where = wrong.where, .what = wrong.what});
            } catch (const std::exception& error) {
                return say(
                    {.kind = Outcome::Kind::wrong, .where = "exception", .what = error.what()});
            }
        },
        kMostSeconds));
}

/// The kernels of a program that was right so far.
void check_on_target(const std::vector<Recipe>& recipes, const Compiled& compiled,
                     const std::function<const runtime::Model&()>& ready, Outcome& outcome) {
    if (outcome.kind != Outcome::Kind::right) return;
    const Counts before = outcome.counts;
    Recipe recipe = recipes[compiled.recipe];
    recipe.scale = outcome.scale;
    outcome = apart([&]() -> Outcome {
        const runtime::Model* model = nullptr;
        try {
            model = &ready();
        } catch (const UserError& error) {
            if (!is_of_schedule(error.what()))
                throw Wrong{compiled.where + ": refused", error.what()};
            return {.scale = recipe.scale, .counts = {.unkept = 1}};
        } catch (const InternalError& error) {
            throw Wrong{compiled.where + ": internal error", error.what()};
        }
        return check_generated(recipe, compiled, *model);
    });
    outcome.counts.add(before);
    if (outcome.where == "crash") outcome.where = compiled.where + ": crash";
}

}  // namespace

std::vector<Outcome> check_recipes(const std::vector<Recipe>& recipes, const Checks& checks) {
    std::vector<Outcome> outcomes;
    for (const Recipe& recipe : recipes)
        outcomes.push_back(apart([&] { return check_stages(recipe); }));
    for (const std::string& isa : checks.isas) {
        const auto all = compile_forms(recipes, outcomes, isa, Kernels::of_cpu);
        if (all.empty()) continue;
        const auto loaded = load_all(all, isa, outcomes);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (loaded[i])
                check_on_target(
                    recipes, all[i], [&]() -> const runtime::Model& { return *loaded[i]; },
                    outcomes[all[i].recipe]);
    }
    for (const Target& target : checks.devices)
        for (const Compiled& one :
             compile_forms(recipes, outcomes, target.architecture, kernels_of(target))) {
            std::shared_ptr<const runtime::Model> ready;
            check_on_target(
                recipes, one,
                [&]() -> const runtime::Model& {
                    ready = model_on(target, one.model.plan, recipes[one.recipe].dtype,
                                     Optimized::little);
                    return *ready;
                },
                outcomes[one.recipe]);
        }
    return outcomes;
}

}  // namespace fovea::tool::fuzz
