// The runs of one instance's program on a device: its memory there, copies in and out, its steps.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "code.h"
#include "device.h"
#include "placement.h"

namespace fovea::runtime::device {

/// What the instances of a model on a device share; the module is loaded.
struct Shared {
    std::shared_ptr<Device> device;
    std::shared_ptr<const Code> code;
    const Module* module = nullptr;
    int module_number = 0;  // on the device
    std::shared_ptr<const Model> model;  // with the buffers of its code
};

class ProgramRun {
  public:
    ProgramRun(std::shared_ptr<const Shared> shared, const Program& program, const Steps& steps);

    Device& device() const { return device_; }
    const Placement& placement() const { return placement_; }
    const Shared& shared() const { return *shared_; }

    /// Places the tensors of the call, as Placement::bind does.
    Placement::Change bind(const Call& call);
    void copy_parameters();
    /// Inputs, seed and step; no states that stay there, unless the host has changed them or
    /// binding has moved them (`places`).
    void copy_inputs(const Call& call, bool places);
    /// They are there when the device has been waited for. Without states that stay there.
    void copy_outputs(const Call& call, bool with_gradients);
    /// Those states, likewise.
    void copy_states(const Call& call);
    bool has_computed() const { return !program_.computed.empty(); }
    /// Waits for the device; UserError when ids or lengths that it computed are out of range.
    void check_computed(const Call& call);

    void prepare();
    void run_steps();
    std::size_t step_count() const { return steps_.steps.size(); }
    /// After each step, what it has written is copied to the host before it is observed, unless
    /// the observer looks at the clock alone.
    void run_observed(const Call& call);
    /// The kernel of a step on these tensors, with the model's dims and those of `more_dims`
    /// behind them.
    void run_kernel(const Step& step, std::vector<Region> tensors,
                    std::span<const std::int64_t> more_dims = {});
    /// Runs `work`, which launches kernels and copies on the device alone. The second time at the
    /// same places it is recorded, and from then on repeated as it was: everything that changes
    /// from run to run is read from memory.
    void repeat(const std::function<void()>& work);
    /// Before work other than the last one's is repeated.
    void forget();

  private:
    bool stays(const Call& call, std::size_t output) const;
    void run_step(const Step& step);
    void copy_out(const Call& call, std::size_t tensor);
    void copy_computed(const Call& call);

    std::shared_ptr<const Shared> shared_;
    const runtime::Program& program_;
    const Steps& steps_;
    Device& device_;
    Placement placement_;
    Allocation key_;
    bool has_run_ = false;  // at these places
    std::unique_ptr<Recording> recording_;
};

}  // namespace fovea::runtime::device
