// A training step as one parallel region: forward, backward, clipping, and the optimizer.
#pragma once

#include <cstdint>
#include <span>

#include "arena.h"
#include "gradients.h"
#include "instance.h"
#include "optimizer.h"

namespace fovea::runtime {

/// How one step moves the parameters.
struct StepRule {
    double learning_rate = 0;
    double clip = 0;            // the gradient's largest norm; 0: any
    double gradient_scale = 1;  // multiplies the gradient, before it is added and clipped
};

struct StepOutcome {
    double gradient_norm = 0;  // scaled, before clipping
    bool moved = false;        // false where loss or gradient is not finite: nothing has changed
};

/// The program `training_step` of a model, whose gradients lie as the parameters do.
class TrainingStep {
  public:
    /// All three must outlive it; InternalError unless the optimizer has the parameters' size.
    TrainingStep(const Model& model, Parameters& parameters, Optimizer& optimizer);

    /// To bind, and to fill with inputs.
    Instance& instance() { return instance_; }
    /// Of the last run, unscaled; gaps are zero.
    std::span<const float> gradients() const {
        return {gradients_.as<float>(), parameters_.flat_size()};
    }

    /// Runs the program (seed and step are dropout's), then moves the parameters and counts the
    /// optimizer's step. The gradient is the sum of this run's and of what `accumulate` has added
    /// since the last one.
    StepOutcome run(std::uint64_t seed, std::uint64_t step, const StepRule& rule);
    /// Runs the program, and keeps `gradient_scale` times its gradients for the next step.
    void accumulate(std::uint64_t seed, std::uint64_t step, double gradient_scale);

  private:
    struct Running;
    static void finish(void* state, Team& team);
    static void move(Running& running, Team& team);
    void run_program(std::uint64_t seed, std::uint64_t step, Running& running);

    Parameters& parameters_;
    Optimizer& optimizer_;
    Instance instance_;
    Arena gradients_, sum_;  // of one run; of those accumulated
    bool has_sum_ = false;
    NormOfParts norm_;
};

}  // namespace fovea::runtime
