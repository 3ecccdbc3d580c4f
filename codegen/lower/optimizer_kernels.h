// The optimizer as kernels over flat arrays, so that a training step stays on a device: the norm of
// the gradient and its clipping, Adam, AdamW, and SGD with momentum, as in
// runtime/training/optimizer.h.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::lower {

/// The symbols of their dims: flat arrays are `chunks` times kChunk floats, of which those behind
/// the last parameter are zero in the gradient; numbers of the loss.
inline constexpr const char* kChunks = "chunks";
inline constexpr const char* kLosses = "loss_count";
inline constexpr int kChunk = 1024;

/// What the host computes for a step: the places of `factors`, all f32.
enum class Factor {
    gradient_scale,  // multiplies the gradient before it is clipped
    clip,  // the gradient's largest norm; 0: any
    decay,  // times the values: added to the gradient
    keep,  // multiplies the values (adamw)
    beta1,
    beta2,
    one_minus_beta1,
    one_minus_beta2,
    step_size,  // learning rate / (1 - beta1^step); sgd: learning rate
    inverse_root,  // 1 / sqrt(1 - beta2^step)
    epsilon,
    momentum,
    count,
};

/// What a step tells the host, all f32: the norm of the scaled gradient, 1 or 0 for whether the
/// parameters move (0 where a loss or the gradient is not finite), and what the gradient is
/// multiplied with.
enum class Outcome { norm, moves, scale, count };

/// Kernels that run one after the other. Their buffers are named
///   values, gradients, first, second, sum   [1024*chunks]
///   squares                                 [chunks]
///   losses                                  [loss_count]
///   factors, infinite, outcome              few numbers
struct OptimizerProgram {
    std::string name;
    std::vector<kernel::Kernel> kernels;
};

/// `update_adam`, `update_adamw`, `update_sgd`: the outcome, then values and state in place.
/// `set_sum`: sum = scale * gradients; `add_to_sum`: sum += scale * gradients.
std::vector<OptimizerProgram> optimizer_programs();

}  // namespace fovea::lower
