// A training step as one parallel region: forward, backward, clipping, and the optimizer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instance.h"
#include "memory/arena.h"
#include "training/gradients.h"
#include "training/optimizer.h"

namespace fovea::runtime {

/// How one step moves the parameters.
struct StepRule {
    double learning_rate = 0;
    double clip = 0;            // the gradient's largest norm; 0: any
    double gradient_scale = 1;  // multiplies the gradient, before it is added and clipped
};

struct StepOutcome {
    double gradient_norm = 0;  // scaled, before clipping
    bool moved = false;        // false where loss or gradient is not finite: no parameter has
};

/// An Executor that also moves the parameters, so that a step stays on its device.
class TrainingExecutor : public Executor {
  public:
    /// Before all else: what it trains. Both then fetch from the device, until `detach`.
    virtual void attach(Parameters& parameters, Optimizer& optimizer) = 0;
    /// Brings parameters and state to the host, and lets go of them.
    virtual void detach() = 0;
    /// As TrainingStep::run, but for the optimizer's count.
    virtual StepOutcome step(const Call& call, const StepRule& rule) = 0;
    /// As TrainingStep::accumulate.
    virtual void accumulate(const Call& call, double gradient_scale) = 0;
};

/// The program `training_step` of a model. Its gradients lie as the parameters do, at the start of
/// its workspace: what the forward pass leaves for a gradient lies where later ones will.
class TrainingStep {
  public:
    /// All three must outlive it; InternalError unless the optimizer has the size of the parameters
    /// that are trained.
    TrainingStep(const Model& model, Parameters& parameters, Optimizer& optimizer);
    ~TrainingStep();
    TrainingStep(const TrainingStep&) = delete;
    TrainingStep& operator=(const TrainingStep&) = delete;

    /// To bind, and to fill with inputs.
    Instance& instance() { return instance_; }

    /// Runs the program (seed and step are dropout's), then moves the parameters and counts the
    /// optimizer's step. The gradient is the sum of this run's and of what `accumulate` has added
    /// since the last one.
    StepOutcome run(std::uint64_t seed, std::uint64_t step, const StepRule& rule);
    /// Runs the program, and keeps `gradient_scale` times its gradients for the next step.
    void accumulate(std::uint64_t seed, std::uint64_t step, double gradient_scale);

  private:
    struct Running;
    /// Of the last run, unscaled; gaps are zero.
    std::span<const float> gradients() {
        return {static_cast<const float*>(instance_.workspace()), parameters_.trained_size()};
    }
    static void finish(void* state, Team& team);
    static void move(Running& running, Team& team);
    void run_program(std::uint64_t seed, std::uint64_t step, Running& running);
    /// Memory that is lent holds anything between gradients.
    void clear_gaps();
    /// The states among the parameters as they were before the runs of a step, which write over
    /// them: a step that moves nothing has them again.
    void keep_states();
    void restore_states();

    Parameters& parameters_;
    Optimizer& optimizer_;
    Instance instance_;
    TrainingExecutor* device_ = nullptr;  // null: this machine's cores move the parameters
    Arena sum_;  // of gradients accumulated
    std::vector<std::size_t> states_;  // numbers of parameters
    Arena states_before_;  // their values, one after the other
    bool has_sum_ = false;
    NormOfParts norm_;
};

}  // namespace fovea::runtime
