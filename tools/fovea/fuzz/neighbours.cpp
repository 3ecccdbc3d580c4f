#include "tools/fovea/fuzz/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "codegen/graph/op_def.h"
#include "codegen/reference/error_bounds.h"
#include "tools/fovea/fuzz/draw_values.h"
#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::tool::fuzz {

namespace {

/// By how much each dim grows: beyond the lanes of a vector, and not by a multiple of them.
const std::map<std::string, std::int64_t> kMore = {{"batch", 3}, {"len", 5}, {"keys", 19}};

/// What a rounding of the reference may hide, of the numbers that are rounded.
constexpr double kLostInDouble = 0x1p-52;

/// Calls visit(i, j) for the elements of an array of shape `small`: i there, j at the same indices
/// of one of shape `large`.
template <class Visit>
void each_element(const std::vector<std::int64_t>& small, const std::vector<std::int64_t>& large,
                  const Visit& visit) {
    std::size_t count = 1;
    for (std::int64_t extent : small) count *= std::size_t(extent);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t left = i, j = 0, stride = 1;
        for (std::size_t axis = small.size(); axis-- > 0;) {
            j += left % std::size_t(small[axis]) * stride;
            left /= std::size_t(small[axis]);
            stride *= std::size_t(large[axis]);
        }
        visit(i, j);
    }
}

/// Outputs with the bounds of their errors, which are equal where the same numbers come in: a sum
/// of more terms that are 0 but for rounding has the same value, and another bound. Of what has
/// none nothing is known. `unit`: the relative error of one rounding.
struct Outputs {
    Values values, bounds;
};
Outputs outputs_of(const CompiledProgram& program, const SampleDims& sizes, const Values& values,
                   const InterpreterOptions& options, double unit) {
    Interpreter reference(program.gradient, options);
    set_all(reference, sizes, values);
    ErrorBounds bounds(reference, unit);
    bounds.ignore_lengths();
    Outputs outputs;
    for (const auto& [name, value] : reference.outputs()) {
        outputs.values[name] = value;
        outputs.bounds[name] = bounds.of_output(name);
    }
    return outputs;
}

/// Others: of about the same size, and so large that a weight which is lost beside 1 counts.
constexpr double kOthers[] = {-16, 0x1p200};

/// `many`, in which the numbers that `few` has not are so many times as large.
Values with_others(const CompiledProgram& program, const Values& few, const Values& many,
                   double times) {
    Values others = many;
    for (const plan::Tensor& tensor : program.plan.tensors) {
        if (tensor.dtype != DType::f32 || !others.contains(tensor.name)) continue;
        Array& array = others.at(tensor.name);
        for (double& value : array.values) value *= times;
        each_element(few.at(tensor.name).shape, array.shape, [&](std::size_t i, std::size_t j) {
            array.values[j] = few.at(tensor.name).values[i];
        });
    }
    return others;
}

/// A run of some sizes, and one of more.
struct Runs {
    Outputs alone, beside;

    /// Whether an element of an output has a bound, and is the same in both.
    bool is_same(const std::string& output, std::size_t i, std::size_t j) const {
        const auto same = [&](const Values& of_few, const Values& of_many) {
            return of_few.at(output).values[i] == of_many.at(output).values[j];
        };
        return std::isfinite(alone.bounds.at(output).values[i]) &&
               same(alone.values, beside.values) && same(alone.bounds, beside.bounds);
    }
};

bool draws(const CompiledProgram& program) {
    return std::ranges::any_of(program.gradient.nodes,
                               [](const Node& node) { return op_def(node.op).draws; });
}

/// Whether the output has rows of its own for the positions along a dim, as a sum over all has not.
bool has_rows(const plan::Tensor& tensor, const LongerDims& longer) {
    return std::any_of(tensor.shape.begin(), tensor.shape.end(), [&](const Dim& dim) {
        return std::any_of(longer.begin(), longer.end(), [&](const std::string& name) {
            return dim == Dim("batch") || dim == Dim(name);
        });
    });
}

}  // namespace

std::vector<LongerDims> longer_dims() {
    std::vector<LongerDims> all = {{}};
    for (const auto& [name, more] : kMore) {
        all.front().push_back(name);
        all.push_back({name});
    }
    return all;
}

Recipe made_longer(Recipe recipe, const LongerDims& longer) {
    for (const std::string& name : longer)
        if (recipe.sizes.contains(name)) recipe.sizes[name] += kMore.at(name);
    return recipe;
}

Neighbours::Neighbours(const CompiledProgram& program, const Recipe& recipe,
                       const LongerDims& longer, InterpreterOptions options)
    : recipe_(made_longer(recipe, longer)) {
    options.checks_ids = false;
    options.scatters_roundings = true;
    if (recipe_.sizes == recipe.sizes) return;
    const Values few = draw_values(program.plan, recipe);
    values_ = draw_values(program.plan, recipe_);
    for (auto& [name, array] : values_)
        each_element(few.at(name).shape, array.shape, [&](std::size_t i, std::size_t j) {
            array.values[j] = few.at(name).values[i];
        });
    const double unit = rounds(recipe) ? 0x1p-8 : 0x1p-24;
    std::vector<Runs> runs;
    // As many random factors may be kept among few as among many: not with any seed.
    for (int more = 0; more < (draws(program) ? 3 : 1); ++more) {
        InterpreterOptions own = options;
        own.seed += std::uint64_t(more);
        runs.push_back({outputs_of(program, recipe.sizes, few, own, unit),
                        outputs_of(program, recipe_.sizes, values_, own, unit)});
    }
    // Added numbers may change nothing by chance, as those between two bounds, or nothing that the
    // reference sees, where they turn a tie of float32 to the other side: others of them do.
    for (double times : kOthers)
        runs.push_back(
            {runs[0].alone, outputs_of(program, recipe_.sizes,
                                       with_others(program, few, values_, times), options, unit)});
    const Outputs& alone = runs[0].alone;
    for (const plan::Tensor& tensor : program.plan.tensors) {
        if (tensor.role != plan::Role::output || !has_rows(tensor, longer)) continue;
        each_element(alone.values.at(tensor.name).shape,
                     runs[0].beside.values.at(tensor.name).shape,
                     [&](std::size_t i, std::size_t j) {
                         const bool same = std::ranges::all_of(
                             runs, [&](const Runs& run) { return run.is_same(tensor.name, i, j); });
                         if (same)
                             kept_.push_back(
                                 {tensor.name, i, j,
                                  alone.bounds.at(tensor.name).values[i] / unit * kLostInDouble});
                     });
    }
}

std::optional<std::string> Neighbours::why_not_same(const Values& alone,
                                                    const Values& beside) const {
    for (const Element& element : kept_) {
        const double one = alone.at(element.output).values[element.alone];
        const double other = beside.at(element.output).values[element.beside];
        const bool none = std::isnan(one) && std::isnan(other);
        if (!(one == other || none || std::abs(one - other) <= element.lost))
            return fmt::format("element {} of {} is {} alone and {} beside others", element.alone,
                               element.output, one, other);
    }
    return {};
}

}  // namespace fovea::tool::fuzz
