#include "tools/fovea/fuzz/check_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "codegen/graph/id_operands.h"
#include "tools/fovea/fuzz/draw_values.h"
#include "tools/fovea/fuzz/evaluate_plan.h"
#include "tools/fovea/fuzz/known_values.h"
#include "tools/fovea/fuzz/wrong.h"
#include "tools/fovea/verify/compare_slope.h"
#include "tools/fovea/verify/finite_differences.h"

namespace fovea::tool::fuzz {

namespace {

/// Where inputs give no numbers, those that are smaller are tried.
constexpr int kScales = 3;
constexpr double kScaleRatio = 8;

/// Graphs are evaluated in float64, in other orders of the same sums and by formulas that are equal
/// in exact arithmetic: a rounding here is one of 512 of those.
constexpr Tolerance kInDouble = {0x1p-44, 1};

bool all_finite(const Array& array) {
    return std::all_of(array.values.begin(), array.values.end(),
                       [](double value) { return std::isfinite(value) && std::abs(value) < 1e30; });
}

/// The names of the outputs, which no pass may lose.
std::set<std::string> names_of_outputs(const Graph& graph) {
    std::set<std::string> names;
    for (const Node& node : graph.nodes)
        if (node.op == Op::output && !is_check(node)) names.emplace(node.name);
    return names;
}

/// One program of a recipe, of which all forms give the same.
class StagedProgram {
  public:
    StagedProgram(const ProgramRequest& request, const CompiledProgram& compiled,
                  const Recipe& recipe)
        : name_(request.name),
          recipe_(recipe),
          options_(options_of(request)),
          values_(draw_values(compiled.plan, recipe)),
          known_(recipe.sizes, values_, options_, kInDouble.unit) {}

    /// What the plain ops give; false where some of it is no number.
    bool expect(const CompiledProgram& program) {
        bool finite = true;
        at("reference, " + name_, [&] {
            known_.each_new_output(program.gradient,
                                   [&](const std::string& name, const Bounded& value) {
                                       finite = finite && all_finite(value.value);
                                       expected_[name] = value;
                                   });
        });
        return finite;
    }
    /// The gradients that all stages are compared with, against finite differences.
    void compare_slopes(const std::string& where, const CompiledProgram& program, Counts& counts) {
        at(where + ", finite differences", [&] {
            InterpreterOptions unchecked = options_;
            unchecked.checks_ids = false;
            FiniteDifferences differences(program, recipe_.sizes, values_, unchecked);
            for (const std::string& name : differences.names()) {
                const Slope slope = compare_slope(differences, name, recipe_.scale);
                ++(slope.kind == Slope::Kind::untold ? counts.untold : counts.slopes);
                if (slope.kind == Slope::Kind::other)
                    throw Wrong{where + ": gradient beside finite differences",
                                fmt::format("{}.grad {}", name, slope.text)};
            }
        });
    }
    /// The graph that each pass makes, by the name of the pass and how often it ran before.
    void compare_passes(const std::string& form, const ProgramRequest& request,
                        const target::Target& target, Counts& counts) {
        std::map<std::string, int> runs;
        watch_passes(
            request, target, [&](const PassRecord& pass, const Graph& before, const Graph& after) {
                const int run = ++runs[pass.name];
                const std::string where = fmt::format("{}, {}, {}{}", form, name_, pass.name,
                                                      run > 1 ? fmt::format(" ({})", run) : "");
                compare_graph(where, before, after, counts);
            });
    }
    void compare_kernels(const std::string& where, const CompiledModel& compiled,
                         const CompiledProgram& program, Counts& counts) {
        const Values outputs = at(where, [&] {
            return evaluate_plan(compiled.plan, program.plan, recipe_.sizes, values_,
                                 {.seed = kFuzzSeed, .step = kFuzzStep});
        });
        for (const auto& [name, expected] : expected_) {
            const auto found = outputs.find(name);
            if (found == outputs.end()) throw Wrong{where + ": output", name + " is missing"};
            compare(where, name, found->second, counts);
        }
    }

  private:
    void compare_graph(const std::string& where, const Graph& before, const Graph& after,
                       Counts& counts) {
        const std::set<std::string> kept = names_of_outputs(after);
        for (const std::string& name : names_of_outputs(before))
            if (expected_.contains(name) && !kept.contains(name))
                throw Wrong{where + ": output", name + " is missing"};
        at(where, [&] {
            known_.each_new_output(after, [&](const std::string& name, const Bounded& value) {
                if (!expected_.contains(name)) return;  // a state that stays in this mode
                widen(expected_.at(name).bound, value.bound);
                compare(where, name, value.value, counts);
            });
        });
    }
    void compare(const std::string& where, const std::string& name, const Array& actual,
                 Counts& counts) {
        const Bounded& expected = expected_.at(name);
        const auto why = why_not_equal(actual, expected.value, expected.bound, kInDouble, counts);
        if (why) throw Wrong{of_output(where, name), fmt::format("{} {}", name, *why)};
    }

    std::string name_;
    const Recipe& recipe_;
    InterpreterOptions options_;
    Values values_;
    KnownValues known_;
    /// With the largest of the bounds that the graphs so far have.
    std::map<std::string, Bounded> expected_;
};

/// All programs and forms, at the recipe's scale; false where they give no numbers.
bool compare_forms(const Recipe& recipe, const LoadedModel& model, Counts& counts) {
    std::vector<StagedProgram> programs;
    programs.reserve(4);
    for (const Compilation& form : kCompilations) {
        const auto requests = runner_programs(model, form.fusion);
        const CompiledModel compiled = at(form.name, [&] { return compile(model, requests); });
        for (std::size_t p = 0; p < requests.size(); ++p) {
            const CompiledProgram& program = compiled.programs[p];
            const std::string where = fmt::format("{}, {}", form.name, program.name);
            if (&form == kCompilations) {
                programs.emplace_back(requests[p], program, recipe);
                if (!programs[p].expect(program)) return false;
                programs[p].compare_slopes(where, program, counts);
            }
            programs[p].compare_passes(form.name, requests[p], model.targets.cpu, counts);
            programs[p].compare_kernels(where + ", kernels", compiled, program, counts);
        }
    }
    return true;
}

}  // namespace

InterpreterOptions options_of(const ProgramRequest& request) {
    return {.training = request.training, .seed = kFuzzSeed, .step = kFuzzStep};
}

std::string of_output(const std::string& where, const std::string& name) {
    return fmt::format("{}: {}", where, name.ends_with(".grad") ? "gradient" : "value");
}

Outcome check_stages(Recipe recipe) {
    LoadedModel model;
    try {
        model = model_of(recipe, "");
    } catch (const UserError& error) {
        return {.kind = Outcome::Kind::refused, .what = error.what()};
    }
    for (int i = 0; i <= kScales; ++i) {
        Outcome outcome{.scale = recipe.scale};
        if (compare_forms(recipe, model, outcome.counts)) return outcome;
        recipe.scale /= kScaleRatio;
    }
    return {.kind = Outcome::Kind::no_numbers};
}

}  // namespace fovea::tool::fuzz
