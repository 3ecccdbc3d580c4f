// The optimizer's kernels, run in float64, against the runtime's optimizer.
#include "codegen/lower/optimizer_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "codegen/kernel/evaluate.h"
#include "runtime/device/training.h"
#include "runtime/training/optimizer.h"

using namespace fovea;
using runtime::OptimizerKind;

namespace {

constexpr std::size_t kSize = 2 * std::size_t(lower::kChunk);
using NamedArrays = std::map<std::string, std::vector<double>>;

std::vector<double> normal_values(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> values(size);
    for (double& value : values) value = double(float(normal(random)));
    return values;
}

/// Runs the kernels of a program one after the other.
void run(const std::string& name, NamedArrays& memory) {
    const kernel::DimValues dims = {{lower::kChunks, 2}, {lower::kLosses, 3}};
    for (const lower::OptimizerProgram& program : lower::optimizer_programs()) {
        if (program.name != name) continue;
        for (const kernel::Kernel& kernel : program.kernels) {
            std::vector<std::vector<double>> buffers;
            for (const kernel::Buffer& buffer : kernel.buffers)
                buffers.push_back(memory.at(buffer.name));
            kernel::evaluate(kernel, dims, buffers);
            for (std::size_t i = 0; i < buffers.size(); ++i)
                if (kernel.buffers[i].written) memory[kernel.buffers[i].name] = buffers[i];
        }
        return;
    }
    FAIL("no program ", name);
}

std::vector<float> as_floats(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

double length_of(const std::vector<double>& values) {
    double sum = 0;
    for (double value : values) sum += value * value;
    return std::sqrt(sum);
}

/// Without gradients and factors.
NamedArrays memory_of(unsigned seed) {
    return {{"values", normal_values(kSize, seed)},
            {"first", std::vector<double>(kSize)},
            {"second", std::vector<double>(kSize)},
            {"squares", std::vector<double>(2)},
            {"losses", {1, 2, 3}},
            {"infinite", {0}},
            {"outcome", std::vector<double>(std::size_t(lower::Outcome::count))}};
}

}  // namespace

TEST_CASE("updates of a device are the runtime's, with decay, momentum and a clipped norm") {
    for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::sgd})
        for (const double clip : {0.0, 3.0}) {
            CAPTURE(runtime::name_of(kind));
            CAPTURE(clip);
            runtime::Optimizer optimizer(
                kSize, {.kind = kind, .epsilon = 1e-3, .momentum = 0.8, .weight_decay = 0.1});
            NamedArrays memory = memory_of(1);
            std::vector<float> values = as_floats(memory["values"]);
            for (unsigned step = 1; step <= 3; ++step) {
                const std::vector<double> gradients = normal_values(kSize, step + 1);
                runtime::StepRule rule = {
                    .learning_rate = 0.05, .clip = clip, .gradient_scale = 0.5};
                const auto factors = runtime::device::update_factors(optimizer, rule);
                memory["factors"].assign(factors.begin(), factors.end());
                memory["gradients"] = gradients;
                run("update_" + runtime::name_of(kind), memory);
                const double norm = rule.gradient_scale * length_of(gradients);
                CHECK(memory["outcome"][0] == doctest::Approx(norm));
                if (clip > 0) rule.gradient_scale *= clip / norm;
                optimizer.update_part(values, as_floats(gradients), rule.learning_rate,
                                      rule.gradient_scale, {0, 1});
                optimizer.advance();
            }
            double off = 0;
            for (std::size_t i = 0; i < kSize; ++i)
                off = std::max(off, std::abs(memory["values"][i] - double(values[i])));
            CHECK(off < 1e-5);
        }
}

TEST_CASE("nothing moves where the gradient or a loss is no finite number") {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const char* bad : {"gradients", "losses"}) {
        CAPTURE(bad);
        NamedArrays memory = memory_of(1);
        memory["gradients"] = normal_values(kSize, 2);
        memory[bad][1] = infinity;
        const auto factors = runtime::device::update_factors(runtime::Optimizer(kSize), {});
        memory["factors"].assign(factors.begin(), factors.end());
        const NamedArrays before = memory;
        run("update_adam", memory);
        CHECK(memory["outcome"][std::size_t(lower::Outcome::moves)] == 0);
        for (const char* name : {"values", "first", "second"})
            CHECK(memory.at(name) == before.at(name));
    }
}

TEST_CASE("gradients of several steps are added up with their scales") {
    NamedArrays memory = memory_of(1);
    memory["sum"].resize(kSize);
    memory["factors"].assign(std::size_t(lower::Factor::count), 0);
    memory["factors"][std::size_t(lower::Factor::gradient_scale)] = 0.25;
    const std::vector<double> one = normal_values(kSize, 2), two = normal_values(kSize, 3);
    memory["gradients"] = one;
    run("set_sum", memory);
    memory["gradients"] = two;
    run("add_to_sum", memory);
    for (std::size_t i = 0; i < kSize; ++i)
        CHECK(memory["sum"][i] == doctest::Approx(0.25 * (one[i] + two[i])));
}
