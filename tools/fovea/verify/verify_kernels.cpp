// The observer that compares each kernel, and the rows of gradients beside finite differences.
#include "tools/fovea/verify/verify_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>

#include "codegen/emit/cpp/skeletons.h"
#include "codegen/graph/op_def.h"
#include "codegen/graph/scan_function.h"
#include "codegen/reference/error_bounds.h"
#include "codegen/reference/overflow.h"
#include "codegen/reference/rounded_to.h"
#include "runtime/session.h"
#include "tools/bundle/compare.h"
#include "tools/fovea/verify/compare_slope.h"
#include "tools/fovea/verify/finite_differences.h"
#include "tools/fovea/verify/stored_values.h"
#include "tools/fovea/verify/tensor_memory.h"

namespace fovea::tool {

namespace {

constexpr std::uint64_t kSeed = 11, kStep = 3;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// The relative error of a rounding that bounds are made of: float32's, and four times, since
/// kernels take other formulas that are equal in exact arithmetic.
constexpr double kKernelRounding = 0x1p-22;
/// The same of float64, where two graphs are compared.
constexpr double kGraphRounding = 0x1p-50;
constexpr double kSmallest = 1e-36;  // kernels may take less for 0
constexpr double kFloor = 1e-3;      // of what relative errors are relative to

double largest(const std::vector<double>& values) {
    double result = 0;
    for (double value : values) result = std::max(result, std::abs(value));
    return result;
}

double gradient_floor(const Graph& graph, Interpreter& reference) {
    return std::max(largest_gradient(graph, reference) / 10, kFloor);
}

/// The statistics of rows that see no key, where these are zero: nothing reads them, and kernels
/// leave in them what comes of no scores at all. The reference has scores of 0 there.
void take_unseen_rows(const Node& node, const std::vector<double>& actual, Array& expected) {
    if (node.op != Op::fused_attention || node.result != AttentionResult::statistics ||
        node.masked_rows != MaskedRows::zero)
        return;
    const std::size_t rows = expected.values.size() / 2;
    for (std::size_t row = 0; row < rows; ++row)
        if (expected.values[row] == 0)
            for (std::size_t i : {row, rows + row}) expected.values[i] = actual[i];
}

/// A value of 16 bits by itself is rounded where it is stored: to either of two neighbours, where
/// its error spans their middle.
void round_to_half(const NumberFormat& format, Array& value, Array& bound) {
    for (std::size_t i = 0; i < value.values.size(); ++i)
        bound.values[i] += format.spacing(std::abs(value.values[i]) + bound.values[i]);
    value = rounded_to(format, std::move(value));
}

/// What is no number behind an infinity that float16 stored: 0 times it is none, and a mask makes 0
/// of it that is applied after the product, as in the reference's plain ops, not before.
void take_what_overflowed(const std::vector<double>& actual, Array& expected) {
    for (std::size_t i = 0; i < actual.size(); ++i)
        if (std::isnan(actual[i])) expected.values[i] = actual[i];
}

/// Whether a model says what a gradient is, also in the step of a loop or in a score.
bool has_own_gradients(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, has_own_gradient) ||
           std::ranges::any_of(graph.scans, [](const ScanAttributes& scan) {
               return scan.function && has_own_gradients(scan.function->step);
           });
}

/// Compares after every kernel.
class Observer {
  public:
    Observer(const plan::Model& plan, const CompiledProgram& compiled, runtime::Instance& instance,
             Interpreter& reference, const Sample& sample)
        : plan_(plan),
          compiled_(compiled),
          instance_(instance),
          reference_(reference),
          sample_(sample),
          gradient_floor_(gradient_floor(compiled.optimized, reference)) {
        std::map<int, int> last_user;  // of a tensor
        const std::vector<plan::Step>& steps = compiled.plan.steps;
        for (int i = 0; i < int(steps.size()); ++i) {
            for (int tensor : written(i)) last_writer_[tensor] = i;
            for (int tensor : steps[std::size_t(i)].arguments) last_user[tensor] = i;
        }
        // Parts of sums are made of values as they were before they were rounded and stored.
        for (int i = 0; i < int(steps.size()); ++i) {
            int& at = assumed_at_[i] = i;
            for (int tensor : written(i))
                if (is_part(tensor)) at = std::max(at, last_user[tensor]);
        }
    }

    static void call(void* state, int kernel) {
        auto& self = *static_cast<Observer*>(state);
        if (self.failure_) return;
        try {
            self.compare(kernel);
        } catch (...) {
            self.failure_ = std::current_exception();
        }
    }
    std::vector<VerifyRow> take() {
        if (failure_) std::rethrow_exception(failure_);
        return std::move(rows_);
    }

  private:
    std::vector<int> written(int step_number) const {
        const plan::Step& step = compiled_.plan.steps[std::size_t(step_number)];
        const kernel::Kernel& kernel = plan_.kernels[std::size_t(step.kernel)];
        std::vector<int> tensors;
        for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
            if (kernel.buffers[i].written) tensors.push_back(step.arguments[i]);
        return tensors;
    }
    /// Whether a tensor holds no node's value, but what a later step makes one of.
    bool is_part(int tensor) const { return compiled_.plan.tensors[std::size_t(tensor)].node < 0; }
    void compare(int step) {
        VerifyRow row{plan_.name,
                      compiled_.name + "/" + compiled_.plan.steps[std::size_t(step)].name,
                      sample_.text(),
                      {},
                      {},
                      true};
        ErrorBounds bounds(reference_, kKernelRounding);
        for (int number : written(step))
            if (last_writer_.at(number) == step) compare_tensor(step, number, bounds, row);
        reference_.assume(written_[step]);
        written_.erase(step);
        if (row.value_error || row.gradient_error) rows_.push_back(row);
    }
    void compare_tensor(int step, int number, ErrorBounds& bounds, VerifyRow& row) {
        const plan::Tensor& tensor = compiled_.plan.tensors[std::size_t(number)];
        if (is_part(number)) return;
        const Node& node = compiled_.optimized[tensor.node];
        Array expected = reference_.value(tensor.node);
        std::vector<double> actual = read_tensor(instance_.tensor(std::size_t(number)),
                                                 tensor.dtype, expected.values.size());
        Array bound = bounds.of(tensor.node);
        if (is_half(tensor.dtype) && !reference_.format(tensor.node))
            round_to_half(format_of(tensor.dtype), expected, bound);
        take_unseen_rows(node, actual, expected);
        if (has_overflowed_) take_what_overflowed(actual, expected);
        has_overflowed_ |= tensor.dtype == DType::f16 &&
                           std::ranges::any_of(actual, [](double x) { return std::isinf(x); });
        const bool gradient = node.backward || node.name.ends_with(".grad");
        compare_within(expected, bound, actual, gradient, gradient ? gradient_floor_ : kFloor, row);
        // Kernels behind it read this, and not what the reference makes of values that were rounded
        // when they were stored beside it.
        std::map<int, Array>& written = written_[assumed_at_[step]];
        const int base = base_of_tensor(compiled_.fused, tensor.node);
        if (base > 0)
            written.merge(stored_values(compiled_.optimized, compiled_.fused, base, actual,
                                        reference_.sizes()));
        written[tensor.node] = {expected.shape, std::move(actual)};
    }

    const plan::Model& plan_;
    const CompiledProgram& compiled_;
    runtime::Instance& instance_;
    Interpreter& reference_;
    const Sample& sample_;
    double gradient_floor_;
    bool has_overflowed_ = false;  // in float16
    std::map<int, int> last_writer_;
    /// By step: when what it wrote is taken for granted.
    std::map<int, int> assumed_at_;
    std::map<int, std::map<int, Array>> written_;  // by node, by the step that is to assume it
    std::vector<VerifyRow> rows_;
    std::exception_ptr failure_;
};

}  // namespace

void compare_within(const Array& expected, const Array& bound, const std::vector<double>& actual,
                    bool gradient, double floor, VerifyRow& row) {
    std::optional<double>& worst = gradient ? row.gradient_error : row.value_error;
    worst = std::max(worst.value_or(0), bundle::relative_error(actual, expected.values, floor));
    std::size_t unbounded = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double right = expected.values[i];
        if (actual[i] == right || (std::isnan(actual[i]) && std::isnan(right))) continue;
        const double difference = std::abs(actual[i] - right);
        const double allowed = bound.values[i] + kSmallest;
        if (is_overflow(actual[i], right, allowed)) continue;
        // A gradient is divided by how many elements are the largest: in the reference it may be
        // none of those that it computes again, in more digits than what was stored.
        if (!std::isfinite(allowed) && !std::isnan(actual[i])) ++unbounded;
        else if (std::isnan(difference)) row.of_bound = kInfinite;
        else row.of_bound = std::max(row.of_bound, difference / allowed);
    }
    if (unbounded)
        row.note = fmt::format("{} of {} elements have no bound", unbounded, actual.size());
    row.ok = row.of_bound <= 1;
}

double largest_gradient(const Graph& graph, Interpreter& reference) {
    double result = 0;
    for (const Node& node : graph.nodes)
        if (node.op == Op::output && node.name.ends_with(".grad"))
            result = std::max(result, largest(reference.output(node.name).values));
    return result;
}

void set_all(Interpreter& reference, const SampleDims& dims, const Values& values) {
    for (const auto& [name, size] : dims) reference.bind(name, size);
    for (const auto& [name, array] : values)
        if (reference.has(name)) reference.set(name, array);
}

void round_as_kernels(Interpreter& reference, const CompiledProgram& compiled) {
    const fuse::FusedGraph& fused = compiled.fused;
    std::vector<DType> memory(fused.layouts.size(), DType::f32);
    for (std::size_t id = 0; id < memory.size(); ++id) {
        const int base = fused.layouts[id].base;
        if (base <= 0) continue;
        const bool in_half = !fused.in_halves.empty() && fused.in_halves[std::size_t(base)];
        memory[id] = in_half ? fused.half : compiled.optimized[base].dtype;
    }
    if (!fused.in_halves.empty() ||
        std::ranges::any_of(memory, [](DType type) { return is_half(type); }))
        reference.round_to_memory(std::move(memory), fused.half);
}

std::vector<VerifyRow> verify_optimized(const std::string& model, const CompiledProgram& compiled,
                                        const Sample& sample, bool training) {
    const Values values = draw_values(compiled.plan, sample);
    const InterpreterOptions options{
        .training = training, .seed = kSeed, .step = kStep, .checks_ids = false};
    Interpreter source(compiled.gradient, options), optimized(compiled.optimized, options);
    set_all(source, sample.dims, values);
    set_all(optimized, sample.dims, values);
    ErrorBounds of_source(source, kGraphRounding), of_optimized(optimized, kGraphRounding);
    const double gradients = gradient_floor(compiled.gradient, source);
    std::vector<VerifyRow> rows;
    for (const auto& [name, expected] : source.outputs()) {
        VerifyRow row{
            model, compiled.name + "/" + name + " (optimized graph)", sample.text(), {}, {}, true};
        Array bound = of_source.of_output(name);
        const Array& own = of_optimized.of_output(name);
        for (std::size_t i = 0; i < bound.values.size(); ++i) bound.values[i] += own.values[i];
        const bool gradient = name.ends_with(".grad");
        compare_within(expected, bound, optimized.output(name).values, gradient,
                       gradient ? gradients : kFloor, row);
        if (row.note.empty() && largest(expected.values) == 0) row.note = "all zero";
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<VerifyRow> verify_kernels(const plan::Model& plan, const CompiledProgram& compiled,
                                      const runtime::Model& of_program, const Sample& sample,
                                      bool training) {
    return verify_kernels(plan, compiled, of_program, sample, draw_values(compiled.plan, sample),
                          training);
}

std::vector<VerifyRow> verify_kernels(const plan::Model& plan, const CompiledProgram& compiled,
                                      const runtime::Model& of_program, const Sample& sample,
                                      const Values& values, bool training) {
    // Drawn ids may lead to computed ones that are out of range, where the nearest is read.
    runtime::Model generated = of_program;
    for (runtime::Program& program : generated.programs) program.computed.clear();
    Interpreter reference(compiled.optimized, {.training = training,
                                               .seed = kSeed,
                                               .step = kStep,
                                               .tf32 = compiled.tf32,
                                               .compares_in_single = true,
                                               .checks_ids = false});
    round_as_kernels(reference, compiled);
    runtime::DimValues dims(sample.dims.begin(), sample.dims.end());
    runtime::Parameters parameters(generated, dims);
    Values as_kept = values;
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const std::vector<double>& from = values.at(generated.parameters[i].name).values;
        parameters.set_values(i, std::vector<float>(from.begin(), from.end()));
        if (!generated.parameters[i].storage) continue;
        const std::vector<float> kept = parameters.floats(i);
        as_kept.at(generated.parameters[i].name).values.assign(kept.begin(), kept.end());
    }
    set_all(reference, sample.dims, as_kept);
    runtime::Instance instance(generated, compiled.name, parameters);
    instance.bind(dims);
    for (const plan::Tensor& tensor : compiled.plan.tensors)
        if (tensor.role == plan::Role::input)
            write_tensor(instance.input<void>(tensor.name), tensor.dtype, values.at(tensor.name));
    Observer observer(plan, compiled, instance, reference, sample);
    runtime::Call call;
    call.seed = kSeed;
    call.step = kStep;
    call.observe = Observer::call;
    call.observe_state = &observer;
    instance.run_call(call);
    return observer.take();
}

std::vector<VerifyRow> verify_gradients(const std::string& model, const CompiledProgram& compiled,
                                        const Sample& sample, bool training) {
    FiniteDifferences differences(
        compiled, sample.dims, draw_values(compiled.plan, sample),
        {.training = training, .seed = kSeed, .step = kStep, .checks_ids = false});
    const double floor = std::max(differences.largest_gradient() / 10, kFloor);
    std::vector<VerifyRow> rows;
    // Where a model says what a gradient is, no slope has to be.
    const bool own = has_own_gradients(compiled.graph);
    for (const std::string& name : differences.names()) {
        if (own) {
            rows.push_back({model, compiled.name + "/" + name + ".grad (finite differences)",
                            sample.text(), std::nullopt, 0, true, 0,
                            "not taken, since the model has a custom_gradient"});
            continue;
        }
        const Slope slope = compare_slope(differences, name, 1);
        const double size = std::max(std::abs(differences.gradient(name)), floor);
        const bool other = slope.kind == Slope::Kind::other;
        rows.push_back({model, compiled.name + "/" + name + ".grad (finite differences)",
                        sample.text(), std::nullopt, slope.distance / size, !other,
                        other ? kInfinite : 0, slope.text});
        if (slope.kind == Slope::Kind::untold) rows.back().note = "no slope can be told";
    }
    return rows;
}

}  // namespace fovea::tool
