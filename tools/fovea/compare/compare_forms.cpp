#include "tools/fovea/compare/compare_forms.h"

#include <algorithm>
#include <cmath>

#include "runtime/instance.h"
#include "tools/bundle/compare.h"
#include "tools/fovea/bench/stopwatch.h"
#include "tools/fovea/compare/count_bytes.h"
#include "tools/fovea/compare/longest_sum.h"
#include "tools/fovea/fit_dims.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/runtime_dtype.h"
#include "tools/fovea/verify/sample_inputs.h"
#include "tools/fovea/verify/tensor_memory.h"

namespace fovea::tool {

namespace {

constexpr std::uint64_t kDropoutSeed = 7, kDropoutStep = 1;  // of dropout, the same on both sides

bool is_gradient(const std::string& output) { return output.ends_with(".grad"); }

std::size_t element_count_of(const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (std::int64_t size : shape) count *= std::size_t(size);
    return count;
}

/// One form, bound to dims.
class ComparedForm {
  public:
    ComparedForm(const runtime::Model& model, const std::string& program, const SampleDims& dims)
        : parameters_(model, dims), instance_(model, program, parameters_) {
        instance_.bind(dims);
    }

    void fill(const Values& values) {
        for (std::size_t i = 0; i < parameters_.count(); ++i) {
            const auto& from = values.at(parameters_.model().parameters[i].name).values;
            parameters_.set_values(i, std::vector<float>(from.begin(), from.end()));
        }
        instance_.parameters_changed();
        for (const runtime::TensorSpec& spec : instance_.program().inputs)
            write_tensor(instance_.input<void>(spec.name), compiler_dtype(spec.dtype),
                         values.at(spec.name));
    }
    double run() {
        return milliseconds_of([&] { instance_.run(kDropoutSeed, kDropoutStep); });
    }
    std::vector<double> output(const runtime::TensorSpec& spec) {
        const std::size_t count = element_count_of(instance_.shape_of(spec));
        return bundle::read_values(instance_.output<void>(spec.name), spec.dtype, count);
    }
    const std::vector<runtime::TensorSpec>& outputs() const { return instance_.program().outputs; }
    /// Workspace, prepared buffers, inputs and outputs.
    double peak_bytes() const {
        double bytes = double(instance_.workspace_bytes() + instance_.prepared_bytes());
        for (const auto* specs : {&instance_.program().inputs, &instance_.program().outputs})
            for (const runtime::TensorSpec& spec : *specs)
                bytes += double(element_count_of(instance_.shape_of(spec)) *
                                runtime::size_of(spec.dtype));
        return bytes;
    }

  private:
    runtime::Parameters parameters_;
    runtime::Instance instance_;
};

/// The type with the fewest digits among those of floats that a model has.
DType coarsest_of(const LoadedModel& model) {
    DType coarsest = model.dtype;
    const auto spacing = [](DType type) { return format_of(type).spacing(1); };
    for (const Node& node : model.graph.nodes)
        if (is_half(node.dtype) && spacing(node.dtype) > spacing(coarsest)) coarsest = node.dtype;
    return coarsest;
}

double largest_magnitude(const std::vector<double>& values) {
    double result = 0;
    for (double value : values) result = std::max(result, std::abs(value));
    return result;
}

/// Errors of `on`, each by the largest value of its tensor; of gradients that vanish (a bias before
/// a softmax), by a hundredth of the largest gradient.
void compare_outputs(ComparedForm& off, ComparedForm& on, CompareRow& row) {
    double largest_gradient = 0;
    for (const runtime::TensorSpec& spec : off.outputs())
        if (is_gradient(spec.name))
            largest_gradient = std::max(largest_gradient, largest_magnitude(off.output(spec)));
    for (const runtime::TensorSpec& spec : off.outputs()) {
        const bool gradient = is_gradient(spec.name);
        const double floor = gradient ? largest_gradient / 100 : 1e-30;
        double& error = gradient ? row.gradient_error : row.value_error;
        error = std::max(error, bundle::relative_error(on.output(spec), off.output(spec), floor));
    }
}

/// Runs of both forms in turns, which share what disturbs the machine.
void time_in_turns(ComparedForm& off, ComparedForm& on, CompareRow& row) {
    constexpr std::size_t kLeastRuns = 5, kMostRuns = 200;
    constexpr double kMilliseconds = 600;
    std::vector<double> times_off, times_on;
    double sum = 0;
    while (times_off.size() < kLeastRuns || (sum < kMilliseconds && times_off.size() < kMostRuns)) {
        times_off.push_back(off.run());
        times_on.push_back(on.run());
        sum += times_off.back() + times_on.back();
    }
    const Milliseconds of_off = milliseconds_of(times_off), of_on = milliseconds_of(times_on);
    row.off.ms = of_off.median;
    row.off.best_ms = of_off.best;
    row.on.ms = of_on.median;
    row.on.best_ms = of_on.best;
}

}  // namespace

double fusion_tolerance(double terms, DType coarsest) {
    const double units = format_of(coarsest).spacing(1) / format_of(f32).spacing(1);
    return 1e-5 * units * std::sqrt(std::max(1.0, terms / 1024));
}

FormComparison::FormComparison(const LoadedModel& model) : coarsest_(coarsest_of(model)) {
    const bool gradient = has_gradient(model), training = depends_on_mode(model.graph);
    for (Fusion fusion : {Fusion(false), Fusion(true, AttentionForm::fused)}) {
        requests_.push_back(runner_program(model, gradient, training, fusion));
        compiled_.push_back(compile(model, {requests_.back()}));
        generated_.push_back(
            &load_generated(compiled_.back().plan, isa_of_this_machine(products_of(model))));
    }
}

SampleDims FormComparison::dims(const std::vector<std::string>& given) const {
    SampleDims dims = sample_dims(compiled_[0].plan, given);
    fit_to_slices({&compiled_[0].programs[0].graph}, names_of(given), dims);
    for (const CompiledModel& form : compiled_) check_memory(form.programs[0].plan, dims);
    return dims;
}

CompareRow FormComparison::measure(const SampleDims& dims) const {
    CompareRow row;
    row.dims = dims;
    row.tolerance =
        fusion_tolerance(longest_sum(compiled_[0].programs[0].optimized, dims), coarsest_);
    ComparedForm off(*generated_[0], program(), dims), on(*generated_[1], program(), dims);
    for (auto lengths : {Sample::Lengths::any, Sample::Lengths::full}) {
        const Values values =
            draw_values(compiled_[0].programs[0].plan, {.dims = dims, .lengths = lengths});
        off.fill(values);
        on.fill(values);
        off.run();
        on.run();
        compare_outputs(off, on, row);
    }
    time_in_turns(off, on, row);
    FormCost* costs[] = {&row.off, &row.on};
    ComparedForm* forms[] = {&off, &on};
    for (int i = 0; i < 2; ++i) {
        const CompiledProgram& program = compiled_[std::size_t(i)].programs[0];
        costs[i]->bytes = bytes_moved(compiled_[std::size_t(i)].plan, program.plan, dims);
        costs[i]->peak_bytes = forms[i]->peak_bytes();
        costs[i]->kernels = int(program.plan.steps.size());
    }
    row.chosen = chosen_form(compiled_[1], dims);
    return row;
}

std::string chosen_form(const CompiledModel& model, const SampleDims& dims) {
    const CompiledProgram& program = model.programs[0];
    const target::AttentionChoices& target = model.plan.target.lowering.attention;
    const auto is_plain = [&](const AttentionChoice& choice) {
        const fuse::AttentionWork work =
            choice.work_at([&](const Dim& dim) { return value_of(dim, dims); });
        return fuse::estimate_attention(work, target).prefers_plain;
    };
    const auto& attentions = program.attentions;
    const auto plain = std::count_if(attentions.begin(), attentions.end(), is_plain);
    if (!plain) return "on";
    const List<Node>& nodes = program.grouped.nodes;
    const bool nothing_else = std::all_of(nodes.begin(), nodes.end(), [](const Node& node) {
        const OpClass op_class = row_of(node.op).op_class;
        return node.region || node.op == Op::attention || node.op == Op::poison ||
               op_class == OpClass::leaf || op_class == OpClass::output;
    });
    return nothing_else && plain == std::ssize(attentions) ? "off" : "mixed";
}

std::optional<std::int64_t> crossover(const std::vector<CompareRow>& rows, const std::string& dim) {
    std::optional<std::int64_t> from;
    for (auto row = rows.rbegin(); row != rows.rend() && row->on.ms < row->off.ms; ++row)
        from = row->dims.at(dim);
    return from;
}

}  // namespace fovea::tool
