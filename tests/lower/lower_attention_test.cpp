// The kernels of a fused attention and of its gradient, run in float64, against the unfused graph.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/kernel/evaluate.h"
#include "codegen/kernel/print.h"
#include "codegen/optimize/select_mode.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/training/philox.h"
#include "tests/lower/attention_cases.h"
#include "tests/lower/attention_kernels.h"

using namespace fovea;

namespace {

/// Fills inputs and parameters of a program, runs its kernels, and gives its outputs.
class ProgramRun {
  public:
    ProgramRun(const CompiledModel& model, test::AttentionDims dims)
        : model_(model), program_(model.programs[0].plan), dims_(std::move(dims)) {
        for (const plan::Tensor& tensor : program_.tensors) memory_.push_back(filled(tensor));
    }
    std::map<std::string, Array> run(std::int64_t tile) {
        for (const plan::Step& step : program_.prepare) run(step, tile);
        for (const plan::Step& step : program_.steps) run(step, tile);
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
            else value = normal_(random_);
        }
        return given_[tensor.name] = array;
    }
    void run(const plan::Step& step, std::int64_t tile) {
        const kernel::Kernel& kernel = model_.plan.kernels[std::size_t(step.kernel)];
        std::vector<std::vector<double>> buffers;
        for (int argument : step.arguments)
            buffers.push_back(memory_[std::size_t(argument)].values);
        kernel::evaluate(
            kernel, dims_, buffers,
            [](int site, double probability, std::int64_t row, std::int64_t column) {
                bool keep = runtime::dropout_keep(5, 3, std::uint32_t(site), std::uint32_t(row),
                                                  std::uint32_t(column), probability);
                return keep ? 1 / (1 - probability) : 0;
            },
            tile);
        for (std::size_t i = 0; i < buffers.size(); ++i)
            if (kernel.buffers[i].written)
                memory_[std::size_t(step.arguments[i])].values = buffers[i];
    }

    const CompiledModel& model_;
    const plan::Program& program_;
    test::AttentionDims dims_;
    std::vector<Array> memory_;
    std::map<std::string, Array> given_;
    std::mt19937 random_{11};
    std::normal_distribution<double> normal_;
};

CompiledModel compiled(const test::AttentionCase& what, bool independent_tiles) {
    target::Target target;
    target.lowering.independent_tiles = independent_tiles;
    return compile_model("attention", "attention.cpp", {},
                         {{.name = "gradient",
                           .graph = what.graph,
                           .training = what.training,
                           .gradients = Gradients::of_parameters_and_inputs,
                           .fusion = {true, AttentionForm::fused}}},
                         target);
}

double error_of(const Array& got, const Array& expected) {
    double error = 0, size = 1e-3;
    REQUIRE(got.values.size() == expected.values.size());
    for (std::size_t i = 0; i < got.values.size(); ++i) {
        double difference = std::abs(got.values[i] - expected.values[i]);
        error = difference == difference ? std::max(error, difference) : INFINITY;
        size = std::max(size, std::abs(expected.values[i]));
    }
    return error / size;
}

}  // namespace

TEST_CASE("fused attention, its gradients, and the plain ops agree on random cases") {
    for (int number = 0; number < 200; ++number) {
        test::AttentionCase what = test::attention_case(number);
        CAPTURE(what.text);
        test::AttentionDims dims = test::attention_dims(number, 0);
        Interpreter plain(add_gradients(select_mode(what.graph, what.training),
                                        {.from_loss = false, .of_inputs = true}),
                          {.training = what.training, .seed = 5, .step = 3});
        for (const auto& [dim, size] : dims) plain.bind(dim, size);
        for (const bool independent_tiles : {false, true}) {
            CAPTURE(independent_tiles);
            CompiledModel model = compiled(what, independent_tiles);
            CHECK(model.programs[0].notes.empty());
            ProgramRun program(model, dims);
            auto outputs = program.run(number % 2 ? 4 : 16);
            for (const auto& [name, array] : program.given()) plain.set(name, array);
            for (const auto& [name, array] : outputs)
                CHECK_MESSAGE(error_of(array, plain.output(name)) < 1e-9, name);
        }
    }
}

TEST_CASE("gradients compute a score once, and take five products of matrices") {
    for (const test::Score score : {test::Score::dot_product, test::Score::soft_cap}) {
        const kernel::Kernel backward = test::attention_backward({.score = score});
        int products = 0, tanhs = 0;
        for (const kernel::Node& node : backward.nodes) {
            const auto* map = std::get_if<kernel::Map>(&node.operation);
            products += std::holds_alternative<kernel::Contract>(node.operation);
            tanhs += map && map->function == Elementwise::tanh;
        }
        CHECK(products == 5);
        CHECK(tanhs == (score == test::Score::soft_cap ? 1 : 0));
    }
}

TEST_CASE("loops over tiles go from where segments begin to where they end") {
    test::AttentionVariant variant{.keys = "queries", .segments = true};
    std::vector<kernel::Kernel> kernels = test::attention_kernels(variant);
    kernels.push_back(test::attention_backward(variant));
    for (const kernel::Kernel& kernel : kernels) {
        CAPTURE(kernel.name);
        bool is_bounded = false;
        for (const kernel::Node& node : kernel.nodes)
            if (const auto* loop = std::get_if<kernel::Loop>(&node.operation))
                is_bounded = is_bounded || (loop->lower >= 0 && loop->upper >= 0);
        CHECK(is_bounded);
    }
}
