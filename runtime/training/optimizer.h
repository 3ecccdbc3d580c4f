// Optimizers over flat arrays: values, gradients and state have one layout. The number of threads
// changes no bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../memory/arena.h"
#include "../parallel/team.h"

namespace fovea::runtime {

enum class OptimizerKind {
    adam,   // Kingma and Ba 2015; weight decay is added to the gradient
    adamw,  // Loshchilov and Hutter 2019: weight decay beside the moments
    sgd,    // with momentum; weight decay is added to the gradient
};

/// `adam`, `adamw`, `sgd`.
std::string name_of(OptimizerKind kind);

/// By PyTorch's formulas: moments are corrected for their bias, epsilon is added outside the root,
/// a velocity is momentum · velocity + gradient.
struct OptimizerSettings {
    OptimizerKind kind = OptimizerKind::adam;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  // adam, adamw
    double momentum = 0;                                // sgd
    double weight_decay = 0;
};

/// The numbers of one update, rounded to float once.
struct OptimizerFactors {
    float gradient_scale;
    float decay;  // of weights, times the values: added to the gradient
    float keep;  // 1 - learning rate · weight decay: multiplies the values (adamw)
    float beta1, beta2, one_minus_beta1, one_minus_beta2;
    float step_size;  // learning rate / (1 - beta1^step); sgd: learning rate
    float inverse_root;  // 1 / sqrt(1 - beta2^step)
    float epsilon, momentum;
};

/// A part of an optimizer's state, in the layout of the parameters.
struct OptimizerState {
    std::string name;  // `m`, `v`; `momentum`
    std::span<float> flat;
};

class Optimizer {
  public:
    /// `size` floats; state and step are zero.
    explicit Optimizer(std::size_t size, OptimizerSettings settings = {});

    /// One part of update number `step()` + 1 of `values` from `gradients`, which are scaled by
    /// `gradient_scale` on the way; both have `size()` floats. When all parts are done, one thread
    /// calls `advance`.
    void update_part(std::span<float> values, std::span<const float> gradients,
                     double learning_rate, double gradient_scale, Part part);
    void advance() { ++step_; }
    /// Of update number `step()` + 1.
    OptimizerFactors factors(double learning_rate, double gradient_scale) const;

    const OptimizerSettings& settings() const { return settings_; }
    std::size_t size() const { return size_; }
    std::uint64_t step() const { return step_; }  // updates so far
    void set_step(std::uint64_t step) { step_ = step; }
    /// All that a training needs to go on, besides the step.
    std::vector<OptimizerState> state();
    /// The same without copying from the device: it may be older than the device's.
    std::vector<OptimizerState> state_here();
    /// Copies the state back from a device, called before each access; empty: it is in host memory.
    void set_fetch(std::function<void()> fetch) { fetch_ = std::move(fetch); }

  private:
    OptimizerSettings settings_;
    std::size_t size_;
    std::uint64_t step_ = 0;
    Arena first_, second_;  // m and v; the velocity and nothing
    std::function<void()> fetch_;
};

}  // namespace fovea::runtime
