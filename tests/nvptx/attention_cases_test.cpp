// The kernels of fused attention and of its gradient in PTX, for scores, masks, shapes and dropout
// of every kind: whole programs against the unfused graph. FOVEA_SEED sets which. What is no loop
// over tiles is evaluated.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/optimize/select_mode.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "tests/lower/attention_cases.h"
#include "tests/nvptx/run_ptx.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;
using kernel::Kernel;

namespace {

/// Fills inputs of a program, runs its kernels, and gives its outputs.
class ProgramRun {
  public:
    ProgramRun(const CompiledModel& model, AttentionDims dims)
        : model_(model), program_(model.programs[0].plan), dims_(std::move(dims)) {
        std::vector<Kernel> tiles;
        for (const Kernel& kernel : model.plan.kernels) {
            const bool is_tiled = kernel.form == kernel::Form::tiles;
            numbers_.push_back(is_tiled ? int(tiles.size()) : -1);
            if (is_tiled) tiles.push_back(kernel);
        }
        emitted_ = emit_and_parse(tiles);
        for (const plan::Tensor& tensor : program_.tensors) memory_.push_back(filled(tensor));
    }

    std::map<std::string, Array> run(const ptx::Schedule& schedule) {
        for (const plan::Step& step : program_.prepare) run(step, schedule);
        for (const plan::Step& step : program_.steps) run(step, schedule);
        std::map<std::string, Array> outputs;
        for (std::size_t i = 0; i < memory_.size(); ++i)
            if (program_.tensors[i].role == plan::Role::output)
                outputs[program_.tensors[i].name] = memory_[i];
        return outputs;
    }
    const std::map<std::string, Array>& given() const { return given_; }

  private:
    Array filled(const plan::Tensor& tensor) {
        Array array;
        for (const Dim& dim : tensor.shape) array.shape.push_back(kernel::value_of(dim, dims_));
        array.values.assign(std::size_t(array.size()), std::nan(""));
        if (tensor.role != plan::Role::parameter && tensor.role != plan::Role::input) return array;
        const std::int64_t limit = plan::largest_value(
            tensor, [&](const Dim& dim) { return kernel::value_of(dim, dims_); }, 2);
        for (double& value : array.values) {
            if (tensor.dtype == i32) value = double(std::int64_t(random_() % unsigned(limit + 1)));
            else if (tensor.dtype == DType::boolean) value = double(random_() % 3 != 0);
            else value = double(float(normal_(random_)));
        }
        return given_[tensor.name] = array;
    }

    void run(const plan::Step& step, const ptx::Schedule& schedule) {
        const Kernel& kernel = model_.plan.kernels[std::size_t(step.kernel)];
        std::vector<std::vector<double>> buffers;
        for (int argument : step.arguments)
            buffers.push_back(memory_[std::size_t(argument)].values);
        if (numbers_[std::size_t(step.kernel)] >= 0) run_in_ptx(step, kernel, buffers, schedule);
        else kernel::evaluate(kernel, dims_, buffers);
        for (std::size_t i = 0; i < buffers.size(); ++i)
            if (kernel.buffers[i].written)
                memory_[std::size_t(step.arguments[i])].values = buffers[i];
    }

    void run_in_ptx(const plan::Step& step, const Kernel& kernel,
                    std::vector<std::vector<double>>& buffers, const ptx::Schedule& schedule) {
        Arrays arrays(kernel, dims_, 1, 1);
        for (std::size_t i = 0; i < buffers.size(); ++i)
            for (std::size_t at = 0; at < buffers[i].size(); ++at) {
                const double value = buffers[i][at];
                const DType dtype = kernel.buffers[i].dtype;
                if (dtype == DType::f32) arrays.floats[i][at] = float(value);
                else if (dtype == i32) arrays.integers[i][at] = std::int32_t(value);
                else arrays.booleans[i][at] = value != 0;
            }
        run_ptx(emitted_, std::size_t(numbers_[std::size_t(step.kernel)]), dims_, arrays, schedule);
        for (std::size_t i = 0; i < buffers.size(); ++i)
            if (kernel.buffers[i].written)
                std::copy_n(arrays.floats[i].begin(), buffers[i].size(), buffers[i].begin());
    }

    const CompiledModel& model_;
    const plan::Program& program_;
    AttentionDims dims_;
    Emitted emitted_;
    std::vector<int> numbers_;  // of a kernel among those in PTX; -1: it is evaluated
    std::vector<Array> memory_;
    std::map<std::string, Array> given_;
    std::mt19937 random_{11};
    std::normal_distribution<double> normal_;
};

CompiledModel compiled(const AttentionCase& what) {
    return compile_model("attention", "attention.cpp", {},
                         {{.name = "gradient",
                           .graph = what.graph,
                           .training = what.training,
                           .gradients = Gradients::of_parameters_and_inputs,
                           .fusion = {true, AttentionForm::fused}}});
}

/// Relative to the largest value, or to `least` where that is larger.
double error_of(const Array& got, const Array& expected, double least) {
    double error = 0, size = least;
    REQUIRE(got.values.size() == expected.values.size());
    for (std::size_t i = 0; i < got.values.size(); ++i) {
        const double difference = std::abs(got.values[i] - expected.values[i]);
        error = difference == difference ? std::max(error, difference) : INFINITY;
        size = std::max(size, std::abs(expected.values[i]));
    }
    return error / size;
}

void check_case(int number) {
    const AttentionCase what = attention_case(number);
    CAPTURE(what.text);
    const CompiledModel model = compiled(what);
    AttentionDims dims = attention_dims(number, number % 5 == 0 ? 2 : number % 2);
    ProgramRun program(model, dims);
    const auto schedules = ptx::schedules();
    const auto outputs = program.run(schedules[std::size_t(number) % schedules.size()]);
    Interpreter plain(add_gradients(select_mode(what.graph, what.training),
                                    {.from_loss = false, .of_inputs = true}),
                      {.training = what.training, .seed = 5, .step = 3});
    for (const auto& [dim, size] : dims) plain.bind(dim, size);
    for (const auto& [name, array] : program.given()) plain.set(name, array);
    for (const auto& [name, array] : outputs) {
        // What all pairs share gets a sum over all of them; a slope's also adds up distances.
        const bool distances = name.starts_with("slope"),
                   shared = name.starts_with("w") || name[0] == 'W';
        const auto rows = double(dims["batch"] * dims["queries"]);
        const double least = distances ? rows * double(dims["keys"]) : shared ? rows : 1;
        CHECK_MESSAGE(error_of(array, plain.output(name), least) < 1e-5, name);
    }
}

}  // namespace

TEST_CASE("fused attention in PTX, its gradients, and the plain ops agree on random cases") {
    // Every eighth of 200, from a drawn one on.
    for (int number = int(random_seed() % 8); number < 200; number += 8) check_case(number);
}
