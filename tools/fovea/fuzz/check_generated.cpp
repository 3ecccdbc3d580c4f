#include "tools/fovea/fuzz/check_generated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <memory>

#include "codegen/plan/share_prepared.h"
#include "codegen/reference/error_bounds.h"
#include "runtime/threads.h"
#include "tools/fovea/fuzz/check_stages.h"
#include "tools/fovea/fuzz/draw_values.h"
#include "tools/fovea/fuzz/neighbours.h"
#include "tools/fovea/fuzz/run_generated.h"
#include "tools/fovea/fuzz/wrong.h"
#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::tool::fuzz {

namespace {

/// How far compiled kernels may be from the reference, in bounds of one rounding a step: they take
/// other orders of the same sums, and formulas that are equal in exact arithmetic.
constexpr Tolerance kInSingle = {0x1p-24, 8};

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

/// One program of a form.
class GeneratedProgram {
  public:
    GeneratedProgram(const Recipe& recipe, const std::string& where, const ProgramRequest& request,
                     const CompiledProgram& plain, const plan::Model& plan,
                     const CompiledProgram& program, const runtime::Model& ready)
        : recipe_(recipe),
          where_(where),
          place_(fmt::format("{}, {}", where, program.name)),
          options_(options_of(request)),
          plain_(plain),
          plan_(plan),
          program_(program),
          ready_(ready),
          values_(draw_values(program.plan, recipe)) {}

    void check(Counts& counts) {
        runtime::set_threads(1);
        const Values outputs = at(where_, [&] { return run(recipe_.sizes, values_); });
        if (rounds(recipe_)) compare_kernels();
        else compare(outputs, counts);
        for (std::int64_t threads : {2, 3}) {
            runtime::set_threads(threads);
            if (!same_bits(outputs, at(where_, [&] { return run(recipe_.sizes, values_); })))
                throw Wrong{place_ + ": threads", "the bits depend on the number of threads"};
        }
        compare_in_place(outputs);
        compare_behind_others(outputs);
        compare_with_neighbours(outputs);
    }

  private:
    Values run(const SampleDims& sizes, const Values& values, bool in_place = false) const {
        return GeneratedRuns(ready_, program_.plan, sizes, values, in_place)
            .run(sizes, values, kFuzzSeed, kFuzzStep);
    }
    /// Within the larger of two bounds: of the plain ops, and of those that the kernels are of.
    void compare(const Values& outputs, Counts& counts) {
        at("reference, " + program_.name, [&] {
            Interpreter plain(plain_.gradient, options_), own(program_.optimized, options_);
            for (Interpreter* reference : {&plain, &own})
                set_all(*reference, recipe_.sizes, values_);
            ErrorBounds of_plain(plain, kInSingle.unit), of_own(own, kInSingle.unit);
            for (const auto& [name, expected] : plain.outputs()) {
                Array bound = of_plain.of_output(name);
                widen(bound, of_own.of_output(name));
                const auto found = outputs.find(name);
                if (found == outputs.end()) throw Wrong{place_ + ": output", name + " is missing"};
                if (const auto why =
                        why_not_equal(found->second, expected, bound, kInSingle, counts))
                    throw Wrong{of_output(place_, name), fmt::format("{} {}", name, *why)};
            }
        });
    }
    /// Where kernels round on the way, which adds up, each by itself: given what those before it
    /// have stored.
    void compare_kernels() {
        at(place_, [&] {
            for (const VerifyRow& row : verify_kernels(plan_, program_, ready_, {recipe_.sizes},
                                                       values_, options_.training))
                if (!row.ok)
                    throw Wrong{
                        fmt::format("{}: {}", place_, row.gradient_error ? "gradient" : "value"),
                        fmt::format("{} is off by {:.3g} of its bound", row.kernel, row.of_bound)};
        });
    }
    /// What states become, stored over them.
    void compare_in_place(const Values& apart) {
        const auto& tensors = program_.plan.tensors;
        const bool any = std::any_of(tensors.begin(), tensors.end(),
                                     [](const plan::Tensor& tensor) { return tensor.state; });
        if (!any) return;
        if (!same_bits(apart, at(where_, [&] { return run(recipe_.sizes, values_, true); })))
            throw Wrong{place_ + ": states", "what they become depends on where it is stored"};
    }
    /// The same values behind a run of others at larger sizes.
    void compare_behind_others(const Values& alone) {
        for (const LongerDims& longer : longer_dims()) {
            const Recipe larger = made_longer(recipe_, longer);
            if (larger.sizes == recipe_.sizes) continue;
            const std::string where =
                fmt::format("{}: behind longer {}", place_, fmt::join(longer, ", "));
            const bool same = at(where, [&] {
                GeneratedRuns runs(ready_, program_.plan, recipe_.sizes, values_);
                runs.run(larger.sizes, draw_values(program_.plan, larger), kFuzzSeed, kFuzzStep);
                return same_bits(alone, runs.run(recipe_.sizes, values_, kFuzzSeed, kFuzzStep));
            });
            if (!same) throw Wrong{where, "the bits depend on what was run before"};
        }
    }
    /// The same values alone, among other rows of the batch, and before padding.
    void compare_with_neighbours(const Values& alone) {
        for (const LongerDims& longer : longer_dims()) {
            const std::string where = fmt::format("{}: longer {}", place_, fmt::join(longer, ", "));
            at(where, [&] {
                const Neighbours others(program_, recipe_, longer, options_);
                if (!others.any()) return;
                if (const auto why =
                        others.why_not_same(alone, run(others.sizes(), others.values())))
                    throw Wrong{where, *why};
            });
        }
    }

    const Recipe& recipe_;
    std::string where_, place_;
    InterpreterOptions options_;
    const CompiledProgram& plain_;
    const plan::Model& plan_;
    const CompiledProgram& program_;
    const runtime::Model& ready_;
    Values values_;
};

/// All programs over the same parameters, by turns, while these become others and themselves again.
void check_together(const Recipe& recipe, const Compiled& compiled, const runtime::Model& ready) {
    Recipe other = recipe;
    ++other.seed;
    const auto parameters = std::make_shared<runtime::Parameters>(
        ready, runtime::DimValues(recipe.sizes.begin(), recipe.sizes.end()));
    std::vector<std::unique_ptr<GeneratedRuns>> together;
    for (const CompiledProgram& program : compiled.model.programs)
        together.push_back(std::make_unique<GeneratedRuns>(program.plan, parameters));
    for (const Recipe* drawn : std::initializer_list<const Recipe*>{&recipe, &other, &recipe}) {
        set_parameters(*parameters, draw_values(compiled.model.programs[0].plan, *drawn));
        for (std::size_t p = 0; p < together.size(); ++p) {
            const plan::Program& program = compiled.model.programs[p].plan;
            const Values values = draw_values(program, *drawn);
            GeneratedRuns alone(ready, program, recipe.sizes, values);
            const Values expected = alone.run(recipe.sizes, values, kFuzzSeed, kFuzzStep);
            if (!same_bits(expected, together[p]->run(recipe.sizes, values, kFuzzSeed, kFuzzStep)))
                throw Wrong{fmt::format("{}, {}: together", compiled.where, program.name),
                            "the bits depend on who has run over the same parameters before"};
        }
    }
}

}  // namespace

Outcome check_generated(const Recipe& recipe, const Compiled& compiled,
                        const runtime::Model& ready) {
    const LoadedModel model = model_of(recipe, "");
    const auto requests = runner_programs(model, kCompilations[0].fusion);
    const CompiledModel plain = compile(model, requests);
    Outcome outcome{.scale = recipe.scale};
    for (const CompiledProgram& program : compiled.model.programs) {
        const auto same = [&](const ProgramRequest& request) {
            return request.name == program.name;
        };
        const auto p = std::find_if(requests.begin(), requests.end(), same) - requests.begin();
        GeneratedProgram(recipe, compiled.where, requests[std::size_t(p)],
                         plain.programs[std::size_t(p)], compiled.model.plan, program, ready)
            .check(outcome.counts);
    }
    if (plan::has_shared(compiled.model.plan))
        at(compiled.where, [&] { check_together(recipe, compiled, ready); });
    return outcome;
}

}  // namespace fovea::tool::fuzz
