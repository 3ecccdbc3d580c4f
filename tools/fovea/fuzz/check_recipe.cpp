#include "tools/fovea/fuzz/check_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "codegen/reference/error_bounds.h"
#include "runtime/error.h"
#include "runtime/threads.h"
#include "tools/fovea/fuzz/batch_mates.h"
#include "tools/fovea/fuzz/compile_forms.h"
#include "tools/fovea/fuzz/draw_values.h"
#include "tools/fovea/fuzz/evaluate_plan.h"
#include "tools/fovea/fuzz/run_apart.h"
#include "tools/fovea/fuzz/run_generated.h"
#include "tools/fovea/fuzz/why_not_slope.h"
#include "tools/fovea/generated_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/verify/finite_differences.h"
#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::tool::fuzz {

namespace {

constexpr std::uint64_t kFuzzSeed = 7, kFuzzStep = 3;

struct Wrong {
    std::string where, what;
};

/// A program takes a fraction of a second, and the interpreter of PTX a few.
constexpr int kMostSeconds = 120;

/// Where inputs give no numbers, those that are smaller are tried.
constexpr int kScales = 3;
constexpr double kScaleRatio = 8;

/// How far compiled kernels may be from the reference, in bounds of one rounding a step: they take
/// other orders of the same sums, and formulas that are equal in exact arithmetic.
constexpr double kKernelFactor = 8;
/// Of graphs that are evaluated in float64, against bounds for float32.
constexpr double kGraphFactor = 0x1p-20;

struct Expected {
    Array value, bound;
};
using AllExpected = std::map<std::string, Expected>;

bool same_bits(const Values& a, const Values& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.second.values.size() == y.second.values.size() &&
               std::equal(x.second.values.begin(), x.second.values.end(), y.second.values.begin(),
                          [](double one, double other) {
                              return std::bit_cast<std::uint64_t>(one) ==
                                     std::bit_cast<std::uint64_t>(other);
                          });
    });
}

bool all_finite(const Array& array) {
    return std::all_of(array.values.begin(), array.values.end(),
                       [](double value) { return std::isfinite(value) && std::abs(value) < 1e30; });
}

/// Why `actual` is not what is expected, within `factor` bounds; nothing when it is.
std::optional<std::string> why_not_equal(const Array& actual, const Expected& expected,
                                         const Array* own_bound, double factor) {
    if (actual.values.size() != expected.value.values.size())
        return fmt::format("has {} values instead of {}", actual.values.size(),
                           expected.value.values.size());
    for (std::size_t i = 0; i < actual.values.size(); ++i) {
        const double right = expected.value.values[i], got = actual.values[i];
        double bound = expected.bound.values[i];
        if (own_bound) bound = std::max(bound, own_bound->values[i]);
        const double allowed =
            factor * (bound + 0x1p-24 * std::abs(right)) + 1e-37 * std::max(1.0, factor);
        if (std::abs(got - right) <= allowed || !std::isfinite(allowed)) continue;
        return fmt::format("element {} is {} instead of {} (bound {:.2g})", i, got, right, allowed);
    }
    return {};
}

/// Calls `f`; an exception of it is what is wrong with a stage.
template <class F>
auto at(const std::string& where, F&& f) {
    try {
        return f();
    } catch (const InternalError& error) {
        throw Wrong{where + ": internal error", error.what()};
    } catch (const UserError& error) {
        throw Wrong{where + ": refused", error.what()};
    } catch (const runtime::UserError& error) {
        throw Wrong{where + ": refused", error.what()};
    } catch (const std::exception& error) {
        throw Wrong{where + ": exception", error.what()};
    }
}

class Check {
  public:
    explicit Check(const Recipe& recipe) : recipe_(recipe) {}

    /// Every stage of every form, on the largest inputs of a few scales that give numbers.
    Outcome stages() {
        Outcome outcome = stages_at_scale();
        for (int i = 0; i < kScales && outcome.kind == Outcome::Kind::no_numbers; ++i) {
            recipe_.scale /= kScaleRatio;
            outcome = stages_at_scale();
        }
        return outcome;
    }
    /// The programs of a compiled model, whose kernels are ready to run.
    void generated(const std::string& where, const CompiledModel& compiled,
                   const runtime::Model& ready) {
        for (const CompiledProgram& program : compiled.programs) {
            const Values values = draw_values(program.plan, recipe_);
            Values first;
            for (std::int64_t threads : {1, 2, 3}) {
                runtime::set_threads(threads);
                const Values outputs = at(where, [&] {
                    return run_generated(ready, program.plan, recipe_.sizes, values, kFuzzSeed,
                                         kFuzzStep);
                });
                const std::string place = fmt::format("{}, {}", where, program.name);
                if (threads == 1) {
                    compare(place, program.name, outputs, &own_bounds_[program.name],
                            kKernelFactor);
                    first = outputs;
                } else if (!same_bits(first, outputs)) {
                    throw Wrong{place + ": threads", "the bits depend on the number of threads"};
                }
            }
            compare_with_mates(where, program, ready, first);
        }
    }

  private:
    Outcome stages_at_scale() {
        LoadedModel model;
        try {
            model = model_of(recipe_, "");
        } catch (const UserError& error) {
            return {Outcome::Kind::refused, "", error.what()};
        }
        expected_.clear();
        for (const Compilation& form : kCompilations) {
            const auto requests = runner_programs(model, form.fusion);
            const CompiledModel compiled = at(form.name, [&] { return compile(model, requests); });
            for (std::size_t p = 0; p < compiled.programs.size(); ++p) {
                const std::string where = fmt::format("{}, {}", form.name, requests[p].name);
                if (&form == kCompilations && !expect(compiled.programs[p], requests[p].training))
                    return {Outcome::Kind::no_numbers, "", ""};
                if (&form == kCompilations)
                    compare_slopes(where, compiled.programs[p], requests[p].training);
                if (requests[p].training) trains_.insert(requests[p].name);
                compare_stages(where, compiled, p, requests[p].training);
            }
        }
        return {};
    }

    /// The rows of the batch, alone and beside others.
    void compare_with_mates(const std::string& where, const CompiledProgram& program,
                            const runtime::Model& ready, const Values& alone) {
        at(where + ", batch mates", [&] {
            const BatchMates mates(program, recipe_, options(trains_.contains(program.name)));
            if (!mates.any()) return;
            const Values beside = run_generated(ready, program.plan, mates.sizes(), mates.values(),
                                                kFuzzSeed, kFuzzStep);
            if (const auto why = mates.why_not_same(alone, beside))
                throw Wrong{fmt::format("{}, {}: batch mates", where, program.name), *why};
        });
    }

    InterpreterOptions options(bool training) const {
        return {.training = training, .seed = kFuzzSeed, .step = kFuzzStep};
    }

    /// What the plain ops give, with bounds; false where some of it is no number.
    bool expect(const CompiledProgram& program, bool training) {
        const Values values = draw_values(program.plan, recipe_);
        Interpreter reference(program.gradient, options(training));
        return at("reference, " + program.name, [&] {
            set_all(reference, recipe_.sizes, values);
            ErrorBounds bounds(reference);
            AllExpected& expected = expected_[program.name];
            for (const auto& [name, value] : reference.outputs()) {
                if (!all_finite(value)) return false;
                expected[name] = {value, bounds.of_output(name)};
            }
            return true;
        });
    }

    /// The gradients that all stages are compared with, against finite differences.
    void compare_slopes(const std::string& where, const CompiledProgram& program, bool training) {
        at(where + ", finite differences", [&] {
            InterpreterOptions unchecked = options(training);
            unchecked.checks_ids = false;
            FiniteDifferences differences(program, recipe_.sizes,
                                          draw_values(program.plan, recipe_), unchecked);
            for (const std::string& name : differences.names())
                if (const auto why = why_not_slope(differences, name, recipe_.scale))
                    throw Wrong{where + ": gradient beside finite differences",
                                fmt::format("{}.grad {}", name, *why)};
        });
    }

    void compare(const std::string& where, const std::string& program, const Values& outputs,
                 const Values* own_bounds, double factor) {
        for (const auto& [name, expected] : expected_.at(program)) {
            const auto found = outputs.find(name);
            if (found == outputs.end()) continue;
            const Array* own = nullptr;
            if (own_bounds && own_bounds->count(name)) own = &own_bounds->at(name);
            const auto why = why_not_equal(found->second, expected, own, factor);
            const bool gradient = name.ends_with(".grad");
            if (why)
                throw Wrong{fmt::format("{}: {}", where, gradient ? "gradient" : "value"),
                            fmt::format("{} {}", name, *why)};
        }
    }

    void compare_graph(const std::string& where, const Graph& graph, const CompiledProgram& program,
                       const Values& values, bool training, Values* bounds = nullptr) {
        at(where, [&] {
            Interpreter interpreter(graph, options(training));
            set_all(interpreter, recipe_.sizes, values);
            const std::map<std::string, Array> outputs = interpreter.outputs();
            ErrorBounds errors(interpreter);
            Values own;
            for (const auto& [name, value] : outputs) own[name] = errors.of_output(name);
            compare(where, program.name, {outputs.begin(), outputs.end()}, &own, kGraphFactor);
            if (bounds) *bounds = std::move(own);
        });
    }

    void compare_stages(const std::string& where, const CompiledModel& compiled, std::size_t p,
                        bool training) {
        const CompiledProgram& program = compiled.programs[p];
        const Values values = draw_values(program.plan, recipe_);
        Values bounds;
        compare_graph(where + ", graph", program.graph, program, values, training);
        compare_graph(where + ", grouped", program.grouped, program, values, training);
        compare_graph(where + ", gradient", program.gradient, program, values, training);
        compare_graph(where + ", optimized", program.optimized, program, values, training, &bounds);
        at(where + ", kernels", [&] {
            const Values outputs = evaluate_plan(compiled.plan, program.plan, recipe_.sizes, values,
                                                 {.seed = kFuzzSeed, .step = kFuzzStep});
            compare(where + ", kernels", program.name, outputs, &bounds, kGraphFactor);
        });
        own_bounds_[program.name] = std::move(bounds);
    }

    Recipe recipe_;
    std::set<std::string> trains_;                 // programs that draw for dropout
    std::map<std::string, AllExpected> expected_;  // by program
    std::map<std::string, Values> own_bounds_;     // of the optimized graphs
};

/// An outcome as a child process says it: kind, where, what, in lines.
std::string say(const Outcome& outcome) {
    return fmt::format("{}\n{}\n{}", int(outcome.kind), outcome.where, outcome.what);
}
Outcome heard(const Apart& apart) {
    if (!apart.answered) return {Outcome::Kind::wrong, "crash", apart.end};
    const std::size_t first = apart.answer.find('\n'), second = apart.answer.find('\n', first + 1);
    return {Outcome::Kind(std::stoi(apart.answer)),
            apart.answer.substr(first + 1, second - first - 1), apart.answer.substr(second + 1)};
}

template <class F>
Outcome apart(F&& f) {
    return heard(run_apart(
        [&]() -> std::string {
            try {
                return say(f());
            } catch (const Wrong& wrong) {
                return say({Outcome::Kind::wrong, wrong.where, wrong.what});
            } catch (const std::exception& error) {
                return say({Outcome::Kind::wrong, "exception", error.what()});
            }
        },
        kMostSeconds));
}

/// The stages, for what a kernel is expected to give; then the kernels.
Outcome check_generated(const Recipe& recipe, const Compiled& compiled,
                        const runtime::Model& ready) {
    Check check(recipe);
    const Outcome outcome = check.stages();
    if (outcome.kind == Outcome::Kind::right)
        check.generated(compiled.where, compiled.model, ready);
    return outcome;
}

}  // namespace

std::vector<Outcome> check_recipes(const std::vector<Recipe>& recipes, const Checks& checks) {
    std::vector<Outcome> outcomes;
    for (const Recipe& recipe : recipes)
        outcomes.push_back(apart([&] { return Check(recipe).stages(); }));
    for (const std::string& isa : checks.isas) {
        const auto all = compile_forms(recipes, outcomes, isa, Kernels::of_cpu);
        if (all.empty()) continue;
        const auto loaded = load_all(all, isa, outcomes);
        for (std::size_t i = 0; i < all.size(); ++i) {
            Outcome& outcome = outcomes[all[i].recipe];
            if (!loaded[i] || outcome.kind != Outcome::Kind::right) continue;
            outcome =
                apart([&] { return check_generated(recipes[all[i].recipe], all[i], *loaded[i]); });
            if (outcome.where == "crash") outcome.where = all[i].where + ": crash";
        }
    }
    for (const Target& target : checks.devices)
        for (const Compiled& one :
             compile_forms(recipes, outcomes, target.architecture, kernels_of(target))) {
            Outcome& outcome = outcomes[one.recipe];
            if (outcome.kind != Outcome::Kind::right) continue;
            outcome = apart([&] {
                const auto ready = at(one.where, [&] {
                    return model_on(target, one.model.plan, DType::f32, Optimized::little);
                });
                return check_generated(recipes[one.recipe], one, *ready);
            });
            if (outcome.where == "crash") outcome.where = one.where + ": crash";
        }
    return outcomes;
}

}  // namespace fovea::tool::fuzz
