// A whole training step on a device: the program, the norm of the gradient, and the update of the
// parameters, by kernels of the model's code.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "../training_step.h"
#include "program_run.h"

namespace fovea::runtime::device {

/// The dims of the optimizer's kernels stand behind those of the model: the chunks of the flat
/// arrays, and the numbers of the loss.
inline constexpr const char* kUpdateDims[] = {"chunks", "loss_count"};

/// The tensors of the optimizer's kernels, as the arguments of their steps number them.
inline constexpr const char* kUpdateTensors[] = {"values",  "gradients", "first",   "second",
                                                 "sum",     "losses",    "factors", "infinite",
                                                 "outcome", "squares"};

/// The places of `factors` and of `outcome`.
enum class UpdateFactor {
    gradient_scale,
    clip,
    decay,
    keep,
    beta1,
    beta2,
    one_minus_beta1,
    one_minus_beta2,
    step_size,
    inverse_root,
    epsilon,
    momentum,
    count
};
enum class UpdateOutcome { norm, moves, scale, count };

/// The programs of the code that are an optimizer's. One who observes a training step sees their
/// kernels numbered in this order behind those of the step.
inline constexpr const char* kUpdatePrograms[] = {"update_adam", "update_adamw", "update_sgd",
                                                  "set_sum", "add_to_sum"};
/// The names of these kernels.
std::vector<std::string> update_kernels(const Code& code, const Module& module);

/// The factors of the optimizer's next update.
std::array<float, std::size_t(UpdateFactor::count)> update_factors(const Optimizer& optimizer,
                                                                   const StepRule& rule);

/// Why a program can't be trained on a device with this code: null when it can.
const char* why_not_trainable(const Code& code, const Program& program, const Model& model);

/// The executor of such a program; a TrainingExecutor.
std::unique_ptr<Executor> make_training_executor(std::shared_ptr<const Shared> shared,
                                                 const Program& program, const Steps& steps);

}  // namespace fovea::runtime::device
