// An Executor for each instance: it owns the instance's memory on the device.
#include "on_device.h"

#include <algorithm>
#include <array>

#include "../error.h"
#include "../team.h"
#include "placement.h"
#include "run_kernel.h"

namespace fovea::runtime::device {
namespace {

/// What the instances of a model share; the module is loaded.
struct Shared {
    std::shared_ptr<Device> device;
    std::shared_ptr<const Code> code;
    const Module* module = nullptr;
    std::shared_ptr<const Model> model;  // as given
};

class DeviceExecutor : public Executor {
  public:
    DeviceExecutor(std::shared_ptr<const Shared> shared, const Program& program, const Steps& steps)
        : shared_(std::move(shared)),
          steps_(steps),
          device_(*shared_->device),
          placement_(device_, *shared_->model, program),
          key_(device_) {
        key_.reserve(sizeof(Key));
    }

    void run(const Call& call) override {
        const Placement::Change change = placement_.bind(call);
        const bool prepare = call.prepare || change.contents;
        copy_in(call, prepare);
        for (std::size_t i = 0; prepare && i < steps_.prepare.size(); ++i)
            run_step(steps_.prepare[i]);
        if (call.observe) run_observed(call);
        else run_steps(change.places);
        for (std::size_t i = placement_.first_output(); i < placement_.first_buffer(); ++i)
            copy_out(call, i);
        device_.synchronize();
        finish(call);
    }

  private:
    using Key = std::array<std::uint64_t, 2>;  // seed and step

    void copy_in(const Call& call, bool parameters) {
        const Region& flat = placement_.parameters();
        if (parameters && flat.bytes) device_.copy_in(flat.address, call.tensors[0], flat.bytes);
        for (std::size_t i = placement_.first_input(); i < placement_.first_output(); ++i)
            if (placement_[i].bytes)
                device_.copy_in(placement_[i].address, call.tensors[i], placement_[i].bytes);
        const Key key = {call.seed, call.step};
        device_.copy_in(key_.address(), key.data(), sizeof key);
    }

    void copy_out(const Call& call, std::size_t tensor) {
        const Region& region = placement_[tensor];
        if (region.bytes) device_.copy_out(call.tensors[tensor], region.address, region.bytes);
    }

    const Kernel& kernel_of(const Step& step) const {
        return shared_->module->kernels[static_cast<std::size_t>(step.kernel)];
    }

    void run_step(const Step& step) {
        const Kernel& kernel = kernel_of(step);
        std::vector<Region> buffers;
        for (std::size_t i = 0; i < step.arguments.size(); ++i) {
            buffers.push_back(placement_[static_cast<std::size_t>(step.arguments[i])]);
            buffers.back().written = kernel.buffers[i].written;
        }
        run_kernel(device_, kernel, buffers, placement_.dims(), key_.address());
    }

    /// The second run at the same places is recorded: launches of one binding differ in nothing,
    /// as seed and step are read from memory.
    void run_steps(bool places_changed) {
        const auto all = [&] {
            for (const Step& step : steps_.steps) run_step(step);
        };
        if (places_changed) recording_.reset();
        else if (!recording_) recording_ = device_.record(all);
        if (recording_) device_.replay(*recording_);
        else all();
    }

    /// After each step, what it has written is on the host before it is observed.
    void run_observed(const Call& call) {
        for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
            const Step& step = steps_.steps[i];
            run_step(step);
            const Kernel& kernel = kernel_of(step);
            for (std::size_t a = 0; a < step.arguments.size(); ++a)
                if (kernel.buffers[a].written)
                    copy_out(call, static_cast<std::size_t>(step.arguments[a]));
            device_.synchronize();
            call.observe(call.observe_state, static_cast<int>(i));
        }
    }

    static void finish(const Call& call) {
        if (!call.finish) return;
        Team team;
#pragma omp parallel
        call.finish(call.finish_state, team);
    }

    std::shared_ptr<const Shared> shared_;
    const Steps& steps_;
    Device& device_;
    Placement placement_;
    Allocation key_;
    std::unique_ptr<Recording> recording_;
};

const Module& load_best(Device& device, const Code& code, const Model& model) {
    std::vector<std::string> architectures;
    for (const Module& module : code.modules) architectures.push_back(module.architecture);
    const std::string best = device.choose(architectures);
    for (const Module& module : code.modules) {
        if (module.architecture != best) continue;
        device.load(module.text);
        return module;
    }
    std::string list;
    for (const std::string& name : architectures) list += (list.empty() ? "" : ", ") + name;
    throw UserError("the kernels of " + model.name + " are for " +
                    (list.empty() ? "no device" : list) + ", which " + device.name() +
                    " does not run");
}

const Steps& steps_of(const Code& code, const Program& program, const Model& model) {
    for (const Steps& steps : code.programs)
        if (steps.program == program.name) return steps;
    throw UserError("the program '" + program.name + "' of " + model.name +
                    " has no kernels for a device");
}

}  // namespace

Model on_device(const Model& model, std::shared_ptr<Device> device,
                std::shared_ptr<const Code> code) {
    auto shared = std::make_shared<Shared>();
    shared->device = std::move(device);
    shared->code = std::move(code);
    shared->model = std::make_shared<Model>(model);
    shared->module = &load_best(*shared->device, *shared->code, model);
    Model result = model;
    for (std::size_t i = 0; i < result.programs.size(); ++i) {
        const Program* program = &shared->model->programs[i];
        const Steps* steps = &steps_of(*shared->code, *program, model);
        result.programs[i].executor = [shared, program, steps] {
            return std::make_unique<DeviceExecutor>(shared, *program, *steps);
        };
    }
    return result;
}

}  // namespace fovea::runtime::device
