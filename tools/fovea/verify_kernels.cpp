// The observer that compares each kernel, and the rows of gradients beside finite differences.
#include "tools/fovea/verify_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>

#include "codegen/emit/cpp/skeletons.h"
#include "runtime/session.h"
#include "tools/fovea/finite_differences.h"
#include "tools/fovea/tensor_memory.h"

namespace fovea::tool {

namespace {

constexpr std::uint64_t kSeed = 11, kStep = 3;
constexpr double kMasked = 1e5;  // values beyond are masked scores

double largest(const std::vector<double>& values) {
    double result = 0;
    for (double value : values) result = std::max(result, std::abs(value));
    return result;
}

/// Compares after every kernel.
class Observer {
  public:
    Observer(const plan::Model& plan, const CompiledProgram& compiled, runtime::Instance& instance,
             Interpreter& reference, const Sample& sample, Tolerances tolerances)
        : plan_(plan),
          compiled_(compiled),
          instance_(instance),
          reference_(reference),
          sample_(sample),
          tolerances_(tolerances),
          gradient_floor_(largest_gradient(compiled.optimized, reference) / 10) {
        for (int i = 0; i < int(compiled.plan.steps.size()); ++i)
            for (int tensor : written(i)) last_writer_[tensor] = i;
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
    void compare(int step) {
        VerifyRow row{plan_.name,
                      compiled_.name + "/" + compiled_.plan.steps[std::size_t(step)].name,
                      sample_.text(),
                      {},
                      {},
                      true};
        for (int number : written(step))
            if (last_writer_.at(number) == step) compare_tensor(number, row);
        if (rounds_on_the_way(step)) reference_.assume(written_);
        written_.clear();
        if (row.value_error || row.gradient_error) rows_.push_back(row);
    }
    /// Whether a kernel rounds to bfloat16 what it keeps to itself, which the reference does not:
    /// what follows is compared given what it wrote, or a relu behind it could differ.
    bool rounds_on_the_way(int step) const {
        const int number = compiled_.plan.steps[std::size_t(step)].kernel;
        const kernel::Kernel& kernel = plan_.kernels[std::size_t(number)];
        return kernel.form == kernel::Form::tiles &&
               std::any_of(kernel.nodes.begin(), kernel.nodes.end(), [](const auto& node) {
                   auto contract = std::get_if<kernel::Contract>(&node.operation);
                   return contract && contract->factors == kernel::Factors::bf16;
               });
    }
    void compare_tensor(int number, VerifyRow& row) {
        const plan::Tensor& tensor = compiled_.plan.tensors[std::size_t(number)];
        if (tensor.node < 0) return;
        const Node& node = compiled_.optimized[tensor.node];
        const Array& expected = reference_.value(tensor.node);
        std::vector<double> actual = read_tensor(instance_.tensor(std::size_t(number)),
                                                 tensor.dtype, expected.values.size());
        bool gradient = node.backward || node.name.ends_with(".grad");
        double floor = gradient ? std::max(gradient_floor_, 1e-3) : 1e-3;
        double error = relative_error(actual, expected.values, floor);
        std::optional<double>& worst = gradient ? row.gradient_error : row.value_error;
        worst = std::max(worst.value_or(0), error);
        row.ok = row.ok && error <= (gradient ? tolerances_.gradients : tolerances_.values);
        written_[tensor.node] = {expected.shape, std::move(actual)};
    }

    const plan::Model& plan_;
    const CompiledProgram& compiled_;
    runtime::Instance& instance_;
    Interpreter& reference_;
    const Sample& sample_;
    Tolerances tolerances_;
    double gradient_floor_;
    std::map<int, int> last_writer_;
    std::map<int, Array> written_;  // by the step, by node
    std::vector<VerifyRow> rows_;
    std::exception_ptr failure_;
};

}  // namespace

double relative_error(const std::vector<double>& a, const std::vector<double>& b, double floor) {
    double scale = floor, error = 0;
    for (double value : b)
        if (std::abs(value) < kMasked) scale = std::max(scale, std::abs(value));
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
        double difference = std::abs(a[i] - b[i]);
        if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
        error = std::max(
            error, difference / std::max(scale, std::abs(b[i]) < kMasked ? 0 : std::abs(b[i])));
    }
    return error;
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

std::vector<bool> rounded(const fuse::FusedGraph& fused) {
    std::vector<bool> nodes(fused.layouts.size(), false);
    for (std::size_t id = 0; id < nodes.size(); ++id) {
        const int base = fused.layouts[id].base;
        nodes[id] = base > 0 && fused.in_bfloat16[std::size_t(base)];
    }
    return nodes;
}

std::vector<VerifyRow> verify_kernels(const plan::Model& plan, const CompiledProgram& compiled,
                                      const runtime::Model& of_program, const Sample& sample,
                                      bool training, Tolerances tolerances) {
    // Drawn ids may lead to computed ones that are out of range, where the nearest is read.
    runtime::Model generated = of_program;
    for (runtime::Program& program : generated.programs) program.computed.clear();
    Values values = draw_values(compiled.plan, sample);
    Interpreter reference(compiled.optimized, {.training = training,
                                               .seed = kSeed,
                                               .step = kStep,
                                               .tf32 = compiled.tf32,
                                               .checks_ids = false});
    if (!compiled.fused.in_bfloat16.empty()) reference.round_to_bfloat16(rounded(compiled.fused));
    set_all(reference, sample.dims, values);
    runtime::DimValues dims(sample.dims.begin(), sample.dims.end());
    runtime::Parameters parameters(generated, dims);
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const std::vector<double>& from = values.at(generated.parameters[i].name).values;
        std::copy(from.begin(), from.end(), parameters.values(i).begin());
    }
    runtime::Instance instance(generated, compiled.name, parameters);
    instance.bind(dims);
    for (const plan::Tensor& tensor : compiled.plan.tensors)
        if (tensor.role == plan::Role::input)
            write_tensor(instance.input<void>(tensor.name), tensor.dtype, values.at(tensor.name));
    Observer observer(plan, compiled, instance, reference, sample, tolerances);
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
    const double floor = std::max(differences.largest_gradient() / 10, 1e-3);
    std::vector<VerifyRow> rows;
    for (const std::string& name : differences.names()) {
        const double expected = differences.gradient(name);
        // A step over a kink (relu, max) gives a slope of neither side; a shorter one does not get
        // there. A wrong gradient is wrong at every step.
        double error = std::numeric_limits<double>::infinity();
        for (double h : {1e-5, 1e-6, 1e-7}) {
            error =
                std::min(error, relative_error({expected}, {differences.slope(name, h)}, floor));
            if (error <= Tolerances{}.gradients) break;
        }
        rows.push_back({model, compiled.name + "/" + name + ".grad (finite differences)",
                        sample.text(), std::nullopt, error, error <= Tolerances{}.gradients});
    }
    return rows;
}

}  // namespace fovea::tool
