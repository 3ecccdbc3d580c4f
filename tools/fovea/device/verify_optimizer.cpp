#include "tools/fovea/device/verify_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/lower/optimizer_kernels.h"
#include "runtime/device/run_kernel.h"
#include "runtime/device/training.h"
#include "runtime/training/gradients.h"
#include "runtime/training/optimizer.h"
#include "runtime/training/random_stream.h"
#include "tools/bundle/compare.h"
#include "tools/fovea/device/device_code.h"

namespace fovea::tool {

namespace {

namespace device = runtime::device;
using runtime::Optimizer;
using runtime::OptimizerKind;
using runtime::OptimizerSettings;

constexpr std::size_t kSteps = 3, kLosses = 5;
constexpr double kMostError = 2e-5;

/// Named arrays of floats on a device.
class Arrays {
  public:
    Arrays(device::Device& on, std::size_t chunks) : device_(on) {
        const std::size_t flat = chunks * lower::kChunk;
        for (const char* name : {"values", "gradients", "first", "second", "sum"}) add(name, flat);
        add("squares", chunks);
        add("losses", kLosses);
        add("factors", std::size_t(lower::Factor::count));
        add("infinite", 1);
        add("outcome", std::size_t(lower::Outcome::count));
    }
    void write(const std::string& name, std::span<const float> values) {
        device_.copy_in(region(name).address, values.data(), values.size_bytes());
    }
    std::vector<float> read(const std::string& name, std::size_t size) {
        std::vector<float> values(size);
        device_.copy_out(values.data(), region(name).address, size * sizeof(float));
        device_.synchronize();
        return values;
    }
    device::Region region(const std::string& name) const {
        const device::Allocation& memory = *memory_.at(name);
        return {memory.address(), memory.capacity()};
    }

  private:
    void add(const std::string& name, std::size_t floats) {
        memory_[name] = std::make_unique<device::Allocation>(device_);
        memory_[name]->reserve_zeros(floats * sizeof(float));
    }

    device::Device& device_;
    std::map<std::string, std::unique_ptr<device::Allocation>> memory_;
};

double largest_error(std::span<const float> actual, std::span<const float> expected) {
    const std::vector<double> a(actual.begin(), actual.end()), b(expected.begin(), expected.end());
    return bundle::relative_error(a, b, 1e-3);
}

/// One training of `size` floats in both.
class OptimizerComparison {
  public:
    OptimizerComparison(device::Device& on, const device::Code& code, std::size_t size,
                        OptimizerSettings settings)
        : device_(on),
          code_(code),
          chunks_((size + lower::kChunk - 1) / lower::kChunk),
          arrays_(on, chunks_),
          optimizer_(size, settings),
          values_(size) {
        runtime::RandomStream(1, 0).fill_normal(values_);
        arrays_.write("values", values_);
        arrays_.write("losses", std::vector<float>(kLosses, 1.5F));
    }

    double run(double clip) {
        for (std::uint32_t number = 1; number <= kSteps; ++number) step(number, clip);
        double error =
            std::max(error_, largest_error(arrays_.read("values", values_.size()), values_));
        const char* const names[] = {"first", "second"};
        const auto states = optimizer_.state();
        for (std::size_t i = 0; i < states.size(); ++i)
            error = std::max(error,
                             largest_error(arrays_.read(names[i], values_.size()), states[i].flat));
        return error;
    }

  private:
    void step(std::uint32_t number, double clip) {
        constexpr double kRate = 0.01, kScale = 0.5;
        std::vector<float> gradients(values_.size());
        runtime::RandomStream(2, number).fill_normal(gradients);
        arrays_.write("gradients", gradients);
        const runtime::StepRule rule{kRate, clip, kScale};
        arrays_.write("factors", device::update_factors(optimizer_, rule));
        launch("update_" + runtime::name_of(optimizer_.settings().kind));

        runtime::NormOfParts norm(gradients.size());
        norm.add_part(gradients, {});
        const double whole = norm.norm() * kScale;
        optimizer_.update_part(values_, gradients, kRate, kScale * runtime::clip_scale(whole, clip),
                               {});
        optimizer_.advance();
        const float expected[] = {float(whole)};
        error_ = std::max(error_, largest_error(arrays_.read("outcome", 1), expected));
    }
    void launch(const std::string& program) {
        const std::int64_t dims[] = {std::int64_t(chunks_), std::int64_t(kLosses)};
        for (const device::Steps& steps : code_.programs) {
            if (steps.program != program) continue;
            for (const device::Step& step : steps.steps) {
                const device::Kernel& kernel = code_.modules[0].kernels[std::size_t(step.kernel)];
                std::vector<device::Region> regions;
                for (std::size_t i = 0; i < step.arguments.size(); ++i) {
                    regions.push_back(arrays_.region(device::kUpdateTensors[step.arguments[i]]));
                    regions.back().written = kernel.buffers[i].written;
                }
                device::run_kernel(device_, kernel, regions, dims);
            }
        }
    }

    device::Device& device_;
    const device::Code& code_;
    std::size_t chunks_;
    Arrays arrays_;
    Optimizer optimizer_;
    std::vector<float> values_;
    double error_ = 0;  // of the norms
};

}  // namespace

std::vector<VerifyRow> verify_optimizer(const Target& target) {
    const OpenTarget open = open_target(target);
    plan::Model nothing{.name = "optimizer"};
    nothing.programs.push_back({.name = "training_step"});
    const device::Code code = compile_for_devices(nothing, {open.architecture});
    open.device->load(code.modules[0].text);
    const OptimizerSettings kinds[] = {
        {.weight_decay = 0.1},
        {.kind = OptimizerKind::adamw, .beta2 = 0.98, .weight_decay = 0.01},
        {.kind = OptimizerKind::sgd, .momentum = 0.9, .weight_decay = 0.1}};
    std::vector<VerifyRow> rows;
    for (const OptimizerSettings& settings : kinds) {
        for (std::size_t size : {1, 1000, 5003}) {
            for (double clip : {0., 2.}) {
                const double error =
                    OptimizerComparison(*open.device, code, size, settings).run(clip);
                rows.push_back({"optimizer", "update_" + runtime::name_of(settings.kind),
                                fmt::format("parameters={} clip={}", size, clip), error,
                                std::nullopt, error <= kMostError, error / kMostError, ""});
            }
        }
    }
    return rows;
}

}  // namespace fovea::tool
