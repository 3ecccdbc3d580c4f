#include "tools/fovea/fuzz/check_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/reference/error_bounds.h"
#include "runtime/random_stream.h"
#include "tools/fovea/fuzz/evaluate_plan.h"
#include "tools/fovea/fuzz/run_generated.h"
#include "tools/fovea/programs.h"

namespace fovea::tool::fuzz {

namespace {

constexpr std::uint64_t kSeed = 7, kStep = 3;

/// The way a program was compiled.
struct Form {
    const char* name;
    Fusion fusion;
};
const Form kForms[] = {{"fusion off", {false}},
                       {"fusion on", {true}},
                       {"fusion always", {true, AttentionForm::fused}}};

struct Wrong {
    std::string where, what;
};

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
    const std::int64_t most = plan::largest_value(
        tensor, [&](const Dim& dim) { return value_of(dim, recipe.sizes); }, 9);
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

bool all_finite(const Array& array) {
    return std::all_of(array.values.begin(), array.values.end(), [](double value) {
        return std::isfinite(value) && std::abs(value) < 1e30;
    });
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

class Check {
  public:
    Check(const Recipe& recipe, const Checks& checks) : recipe_(recipe), checks_(checks) {}

    Outcome run() {
        try {
            model_.graph = build(recipe_).graph;
        } catch (const UserError& error) {
            return {Outcome::Kind::refused, "", error.what()};
        }
        model_.entry.name = recipe_.name;
        model_.entry.source = recipe_.name + ".cpp";
        try {
            return run_forms();
        } catch (const Wrong& wrong) {
            return {Outcome::Kind::wrong, wrong.where, wrong.what};
        }
    }

  private:
    /// Calls `f`; an exception of it is what is wrong with a stage.
    template <class F>
    auto at(const std::string& where, F&& f) {
        try {
            return f();
        } catch (const InternalError& error) {
            throw Wrong{where + ": internal error", error.what()};
        } catch (const UserError& error) {
            throw Wrong{where + ": refused", error.what()};
        } catch (const std::exception& error) {
            throw Wrong{where + ": exception", error.what()};
        }
    }

    Outcome run_forms() {
        for (const Form& form : kForms) {
            const auto requests = runner_programs(model_, form.fusion);
            const CompiledModel compiled =
                at(form.name, [&] { return compile(model_, requests); });
            for (std::size_t p = 0; p < compiled.programs.size(); ++p) {
                const std::string where = fmt::format("{}, {}", form.name, requests[p].name);
                if (&form == kForms && !expect(compiled.programs[p], requests[p].training))
                    return {Outcome::Kind::no_numbers, "", ""};
                compare_stages(where, compiled, p, requests[p].training);
            }
            for (const Target& target : checks_.targets) compare_target(form, target);
        }
        return {};
    }

    InterpreterOptions options(bool training) const {
        return {.training = training, .seed = kSeed, .step = kStep};
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
        if (!checks_.kernels) return;
        at(where + ", kernels", [&] {
            const Values outputs = evaluate_plan(compiled.plan, program.plan, recipe_.sizes, values,
                                                 {.seed = kSeed, .step = kStep});
            compare(where + ", kernels", program.name, outputs, &bounds, kGraphFactor);
        });
        own_bounds_[program.name] = std::move(bounds);
    }

    void compare_target(const Form& form, const Target& target) {
        const std::string where = fmt::format("{}, {}{}{}", form.name, target.name,
                                              target.architecture.empty() ? "" : " ",
                                              target.architecture);
        at(where, [&] {
            const auto requests = runner_programs(model_, form.fusion);
            const CompiledModel compiled = compile(model_, requests, kernels_of(target));
            const auto generated =
                model_on(target, compiled.plan, model_.dtype, Optimized::little);
            for (std::size_t p = 0; p < compiled.programs.size(); ++p) {
                const CompiledProgram& program = compiled.programs[p];
                const Values values = draw_all(program.plan, recipe_);
                const Values outputs = run_generated(*generated, program.plan, recipe_.sizes,
                                                     values, kSeed, kStep);
                compare(fmt::format("{}, {}", where, program.name), program.name, outputs,
                        &own_bounds_[program.name], kKernelFactor);
            }
        });
    }

    const Recipe& recipe_;
    const Checks& checks_;
    LoadedModel model_;
    std::map<std::string, AllExpected> expected_;  // by program
    std::map<std::string, Values> own_bounds_;     // of the optimized graphs
};

}  // namespace

Outcome check_recipe(const Recipe& recipe, const Checks& checks) {
    return Check(recipe, checks).run();
}

}  // namespace fovea::tool::fuzz
