// The Adam optimizer over flat arrays, and clipping of gradients by their global norm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arena.h"

namespace fovea::runtime {

struct AdamSettings {
    double beta1 = 0.9, beta2 = 0.999;
    double epsilon = 1e-8;
};

/// The Euclidean norm of all gradients, in float64. Blocks of 4096 floats are summed over 8 lanes
/// (element i into lane i % 8), lanes and then blocks in order: the bits depend neither on the
/// number of threads nor on the instruction set.
double gradient_norm(std::span<const float> gradients);

/// What gradients are multiplied with so that their norm is at most `clip`: clip / norm when the
/// norm is larger, else 1. `clip` <= 0: no clipping.
double clip_scale(double norm, double clip);

/// Adam (Kingma and Ba 2015) by PyTorch's formula: moments are corrected for their bias, and
/// epsilon is added outside the root. Values, gradients and moments have one flat layout.
class Adam {
  public:
    /// `size` floats; moments and step are zero.
    explicit Adam(std::size_t size, AdamSettings settings = {});

    /// One update of `values` from `gradients`, which are scaled by `gradient_scale` on the way.
    /// Both have `size()` floats. The same bits for every number of threads.
    void update(std::span<float> values, std::span<const float> gradients, double learning_rate,
                double gradient_scale = 1.0);

    std::size_t size() const { return size_; }
    std::uint64_t step() const { return step_; }  // updates so far
    void set_step(std::uint64_t step) { step_ = step; }
    std::span<float> first_moment() { return {first_.as<float>(), size_}; }
    std::span<float> second_moment() { return {second_.as<float>(), size_}; }

  private:
    AdamSettings settings_;
    std::size_t size_;
    std::uint64_t step_ = 0;
    Arena first_, second_;
};

}  // namespace fovea::runtime
