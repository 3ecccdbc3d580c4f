#include "tools/fovea/fuzz/check_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "codegen/kernel/print.h"
#include "codegen/reference/error_bounds.h"
#include "runtime/error.h"
#include "runtime/random_stream.h"
#include "runtime/threads.h"
#include "tools/fovea/fuzz/evaluate_plan.h"
#include "tools/fovea/fuzz/run_apart.h"
#include "tools/fovea/fuzz/run_generated.h"
#include "tools/fovea/generated_model.h"
#include "tools/fovea/programs.h"

namespace fovea::tool::fuzz {

namespace {

constexpr std::uint64_t kCheckSeed = 7, kCheckStep = 3;

/// The way a program was compiled.
struct CheckedForm {
    const char* name;
    Fusion fusion;
};
const CheckedForm kCheckedForms[] = {{"fusion off", {false}},
                                     {"fusion on", {true}},
                                     {"fusion always", {true, AttentionForm::fused}}};

struct Wrong {
    std::string where, what;
};

/// A program takes a fraction of a second, and the interpreter of PTX a few.
constexpr int kMostSeconds = 120;

/// How far compiled kernels may be from the reference, in bounds of one rounding a step: they take
/// other orders of the same sums, and formulas that are equal in exact arithmetic.
constexpr double kKernelFactor = 8;
/// Of graphs that are evaluated in float64, against bounds for float32.
constexpr double kGraphFactor = 0x1p-20;

struct Expected {
    Array value, bound;
};
using AllExpected = std::map<std::string, Expected>;

/// Values of inputs and parameters by name: normal, or ids and lengths in range.
Array draw_array(const plan::Tensor& tensor, const Recipe& recipe, std::uint32_t stream) {
    Array array;
    for (const Dim& dim : tensor.shape) array.shape.push_back(value_of(dim, recipe.sizes));
    const runtime::RandomStream random(recipe.seed, stream);
    const std::int64_t most =
        plan::largest_value(tensor, [&](const Dim& dim) { return value_of(dim, recipe.sizes); }, 9);
    const std::int64_t least = tensor.checks.empty() ? -9 : 0;
    for (std::size_t i = 0; i < std::size_t(array.size()); ++i) {
        if (tensor.dtype == i32)
            array.values.push_back(double(
                least + std::int64_t(random.below(
                            i, std::uint64_t(std::max<std::int64_t>(most - least + 1, 1))))));
        else array.values.push_back(double(float(random.normal(i) * recipe.scale)));
    }
    return array;
}
Values draw_all(const plan::Program& program, const Recipe& recipe) {
    Values values;
    std::uint32_t stream = 2;
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.role == plan::Role::parameter || tensor.role == plan::Role::input)
            values[tensor.name] = draw_array(tensor, recipe, stream++);
    return values;
}

void give(Interpreter& reference, const Recipe& recipe, const Values& values) {
    for (const auto& [name, size] : recipe.sizes) reference.bind(name, size);
    for (const auto& [name, array] : values)
        if (reference.has(name)) reference.set(name, array);
}

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

/// A model of a recipe, compiled in one form.
LoadedModel model_of(const Recipe& recipe, const std::string& suffix) {
    LoadedModel model;
    model.graph = build(recipe).graph;
    model.entry.name = recipe.name + suffix;
    model.entry.source = recipe.name + ".cpp";
    return model;
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

    /// Every stage of every form.
    Outcome stages() {
        LoadedModel model;
        try {
            model = model_of(recipe_, "");
        } catch (const UserError& error) {
            return {Outcome::Kind::refused, "", error.what()};
        }
        for (const CheckedForm& form : kCheckedForms) {
            const auto requests = runner_programs(model, form.fusion);
            const CompiledModel compiled = at(form.name, [&] { return compile(model, requests); });
            for (std::size_t p = 0; p < compiled.programs.size(); ++p) {
                const std::string where = fmt::format("{}, {}", form.name, requests[p].name);
                if (&form == kCheckedForms && !expect(compiled.programs[p], requests[p].training))
                    return {Outcome::Kind::no_numbers, "", ""};
                compare_stages(where, compiled, p, requests[p].training);
            }
        }
        return {};
    }
    /// The programs of a compiled model, whose kernels are ready to run.
    void generated(const std::string& where, const CompiledModel& compiled,
                   const runtime::Model& ready) {
        for (const CompiledProgram& program : compiled.programs) {
            const Values values = draw_all(program.plan, recipe_);
            Values first;
            for (std::int64_t threads : {1, 2, 3}) {
                runtime::set_threads(threads);
                const Values outputs = at(where, [&] {
                    return run_generated(ready, program.plan, recipe_.sizes, values, kCheckSeed,
                                         kCheckStep);
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
        }
    }

  private:
    InterpreterOptions options(bool training) const {
        return {.training = training, .seed = kCheckSeed, .step = kCheckStep};
    }

    /// What the plain ops give, with bounds; false where some of it is no number.
    bool expect(const CompiledProgram& program, bool training) {
        const Values values = draw_all(program.plan, recipe_);
        Interpreter reference(program.gradient, options(training));
        return at("reference, " + program.name, [&] {
            give(reference, recipe_, values);
            ErrorBounds bounds(reference);
            AllExpected& expected = expected_[program.name];
            for (const auto& [name, value] : reference.outputs()) {
                if (!all_finite(value)) return false;
                expected[name] = {value, bounds.of_output(name)};
            }
            return true;
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
            give(interpreter, recipe_, values);
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
        const Values values = draw_all(program.plan, recipe_);
        Values bounds;
        compare_graph(where + ", graph", program.graph, program, values, training);
        compare_graph(where + ", grouped", program.grouped, program, values, training);
        compare_graph(where + ", gradient", program.gradient, program, values, training);
        compare_graph(where + ", optimized", program.optimized, program, values, training, &bounds);
        at(where + ", kernels", [&] {
            const Values outputs = evaluate_plan(compiled.plan, program.plan, recipe_.sizes, values,
                                                 {.seed = kCheckSeed, .step = kCheckStep});
            compare(where + ", kernels", program.name, outputs, &bounds, kGraphFactor);
        });
        own_bounds_[program.name] = std::move(bounds);
    }

    const Recipe& recipe_;
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

/// A form of a recipe on a target, compiled.
struct Compiled {
    std::size_t recipe = 0;
    std::string where;
    CompiledModel model;
};

/// All forms of the recipes that are right so far, those that are alike once.
std::vector<Compiled> compile_forms(const std::vector<Recipe>& recipes,
                                    const std::vector<Outcome>& outcomes, const std::string& target,
                                    Kernels kernels) {
    std::vector<Compiled> all;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        if (outcomes[i].kind != Outcome::Kind::right) continue;
        std::vector<std::string> known;
        for (const CheckedForm& form : kCheckedForms) {
            const LoadedModel model =
                model_of(recipes[i], fmt::format("_{}", &form - kCheckedForms));
            CompiledModel compiled = compile(model, runner_programs(model, form.fusion), kernels);
            std::string text;
            for (const kernel::Kernel& kernel : compiled.plan.kernels) text += print(kernel);
            if (std::find(known.begin(), known.end(), text) != known.end()) continue;
            known.push_back(text);
            all.push_back({i, fmt::format("{}, {}", form.name, target), std::move(compiled)});
        }
    }
    return all;
}

/// Compiles them together; where that fails, one by one, to know which.
std::vector<const runtime::Model*> load_all(const std::vector<Compiled>& all,
                                            const std::string& isa,
                                            std::vector<Outcome>& outcomes) {
    std::vector<const plan::Model*> plans;
    for (const Compiled& one : all) plans.push_back(&one.model.plan);
    try {
        return load_together(plans, isa, Optimized::little);
    } catch (const InternalError&) {
    }
    std::vector<const runtime::Model*> loaded;
    for (const Compiled& one : all) {
        try {
            loaded.push_back(load_together({&one.model.plan}, isa, Optimized::little).front());
        } catch (const InternalError& error) {
            loaded.push_back(nullptr);
            outcomes[one.recipe] = {Outcome::Kind::wrong, one.where + ": internal error",
                                    error.what()};
        }
    }
    return loaded;
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
