// A scan's kernel, run in float64 step by step, gives what the interpreter gives; whether threads
// take their own rows through all steps.
#include <doctest/doctest.h>
#include <fovea.h>

#include <cmath>
#include <random>

#include "codegen/graph/scan_function.h"
#include "codegen/kernel/evaluate.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"

using namespace fovea;

namespace {

using Memory = std::vector<std::vector<double>>;

/// One program, its plain kernels evaluated and its scans step by step.
class Program {
  public:
    Program(const Graph& graph, Gradients gradients, bool fusion, kernel::DimValues dims)
        : model_(compile_model("m", "m.cpp", {},
                               {{.name = "p",
                                 .graph = seal_scans(graph),
                                 .gradients = gradients,
                                 .fusion = {fusion, AttentionForm::faster}}})),
          program_(model_.programs[0]),
          dims_(std::move(dims)),
          reference_(program_.optimized) {
        for (const auto& [name, size] : dims_) reference_.bind(name, size);
        for (const plan::Tensor& tensor : program_.plan.tensors) memory_.push_back(filled(tensor));
    }

    /// The kernels that are loops.
    std::vector<kernel::Kernel> loops() const {
        std::vector<kernel::Kernel> found;
        for (const kernel::Kernel& kernel : model_.plan.kernels)
            if (kernel.steps) found.push_back(kernel);
        return found;
    }
    void check_outputs() {
        for (const plan::Step& step : program_.plan.prepare) run(step);
        for (const plan::Step& step : program_.plan.steps) run(step);
        for (std::size_t i = 0; i < memory_.size(); ++i) {
            const plan::Tensor& tensor = program_.plan.tensors[i];
            if (tensor.role != plan::Role::output) continue;
            CAPTURE(tensor.name);
            const Array& expected = reference_.output(tensor.name);
            REQUIRE(expected.values.size() == memory_[i].size());
            for (std::size_t k = 0; k < memory_[i].size(); ++k)
                CHECK(std::abs(memory_[i][k] - expected.values[k]) < 1e-9);
        }
    }

  private:
    std::int64_t value(const Dim& dim) const { return kernel::value_of(dim, dims_); }

    std::vector<double> filled(const plan::Tensor& tensor) {
        Array array;
        for (const Dim& dim : tensor.shape) array.shape.push_back(value(dim));
        array.values.assign(std::size_t(array.size()), std::nan(""));
        if (tensor.role != plan::Role::parameter && tensor.role != plan::Role::input)
            return array.values;
        for (double& x : array.values) x = normal_(random_);
        reference_.set(tensor.name, array);
        return array.values;
    }
    void run(const plan::Step& step) {
        const kernel::Kernel& kernel = model_.plan.kernels[std::size_t(step.kernel)];
        Memory buffers;
        for (int argument : step.arguments) buffers.push_back(memory_[std::size_t(argument)]);
        if (kernel.steps) run_loop(*kernel.steps, buffers);
        else kernel::evaluate(kernel, dims_, buffers);
        for (std::size_t i = 0; i < buffers.size(); ++i)
            if (kernel.buffers[i].written) memory_[std::size_t(step.arguments[i])] = buffers[i];
    }
    void run_loop(const kernel::Steps& steps, Memory& memory) const {
        for (const kernel::StepStart& start : steps.starts) {
            const std::int64_t rows = steps.rows ? dims_.at("batch") : 1;
            std::copy_n(place(start.from, 0, memory), rows * value(start.size),
                        place(start.to, 0, memory));
        }
        const std::int64_t count = value(steps.count);
        for (std::int64_t n = 0; n < count; ++n)
            for (const kernel::StepCall& call : steps.calls)
                run_call(steps.kernels[std::size_t(call.kernel)], call,
                         steps.reverse ? count - 1 - n : n, memory);
    }
    void run_call(const kernel::Kernel& kernel, const kernel::StepCall& call, std::int64_t step,
                  Memory& memory) const {
        Memory buffers;
        for (std::size_t i = 0; i < call.arguments.size(); ++i) {
            std::int64_t size = 1;
            for (const Dim& dim : kernel.buffers[i].shape) size *= value(dim);
            const auto first = place(call.arguments[i], step, memory);
            REQUIRE(memory[std::size_t(call.arguments[i].buffer)].end() - first >= size);
            buffers.emplace_back(first, first + size);
        }
        kernel::evaluate(kernel, dims_, buffers);
        for (std::size_t i = 0; i < buffers.size(); ++i)
            if (kernel.buffers[i].written)
                std::copy(buffers[i].begin(), buffers[i].end(),
                          place(call.arguments[i], step, memory));
    }
    std::vector<double>::iterator place(const kernel::StepArgument& argument, std::int64_t step,
                                        Memory& memory) const {
        return memory[std::size_t(argument.buffer)].begin() + value(argument.offset) +
               step * value(argument.step);
    }

    CompiledModel model_;
    const CompiledProgram& program_;
    kernel::DimValues dims_;
    Interpreter reference_;
    Memory memory_;
    std::mt19937 random_{3};
    std::normal_distribution<double> normal_;
};

/// Two layers, the second from the last step to the first.
Graph two_layers() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"steps", "batch", 3});
    LSTMState start = {s.input("h", {"batch", 5}), s.input("c", {"batch", 5})};
    auto first = lstm(lstm_layer(s / "first", 3, 5), x, start);
    LSTMLayer layer = lstm_layer(s / "second", 5, 5);
    auto second = scan(first.value, first.state,
                       [&](Tensor y, LSTMState before) {
                           LSTMState next = lstm_step(layer, {y}, before);
                           return Step{next.h, next};
                       },
                       {.reverse = true});
    s.output("y", second.value);
    s.output("last", second.state.c);
    return graph;
}

/// A state that all rows share in: the mean over the batch is taken out of it at each step.
Graph centred() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"steps", "batch", 3}), w = s.input("w", {3, 3});
    auto y = scan(x, s.input("start", {"batch", 3}), [&](Tensor x_t, Tensor before) {
        Tensor next = tanh(linear_product(before - mean(before, 0, true), w) + x_t);
        return Step{next, next};
    });
    s.output("y", y.value);
    return graph;
}

}  // namespace

TEST_CASE("lower_scan: an LSTM's loops and those of its gradient") {
    for (std::int64_t steps : {0, 1, 4})
        for (bool fusion : {true, false}) {
            CAPTURE(steps);
            CAPTURE(fusion);
            const kernel::DimValues dims = {{"steps", steps}, {"batch", 3}};
            Program(two_layers(), Gradients::none, fusion, dims).check_outputs();
            Program(two_layers(), Gradients::of_parameters_and_inputs, fusion, dims)
                .check_outputs();
        }
}

TEST_CASE("lower_scan: threads take rows of their own, unless the step mixes rows") {
    const kernel::DimValues dims = {{"steps", 3}, {"batch", 2}};
    Program apart(two_layers(), Gradients::of_parameters_and_inputs, true, dims);
    CHECK(apart.loops().size() == 4);
    int reverse = 0;
    for (const kernel::Kernel& loop : apart.loops()) {
        CHECK(loop.steps->rows == Dim("batch").bare_symbol());
        reverse += loop.steps->reverse;
    }
    CHECK(reverse == 2);
    Program together(centred(), Gradients::none, true, dims);
    together.check_outputs();
    REQUIRE(together.loops().size() == 1);
    const kernel::Steps& steps = *together.loops()[0].steps;
    CHECK(!steps.rows);
    bool waits = false;
    for (const kernel::StepCall& call : steps.calls) waits = waits || call.waits;
    CHECK(waits);
}

TEST_CASE("lower_scan: gates' gradients lie in one value without a copy") {
    Program program(two_layers(), Gradients::of_parameters_and_inputs, true,
                    {{"steps", 3}, {"batch", 2}});
    for (const kernel::Kernel& loop : program.loops())
        for (const kernel::Kernel& kernel : loop.steps->kernels) CHECK(kernel.formula != "concat");
}
