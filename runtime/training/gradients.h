// Gradients as one flat array: their norm, clipping, and sums over several batches.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../parallel/team.h"

namespace fovea::runtime {

/// The Euclidean norm of all gradients, in float64, inside a parallel region: each thread adds the
/// squares of its own blocks, waits, and calls `norm`. Blocks are summed over 8 lanes (element i
/// into lane i % 8), lanes and then blocks in order: the bits depend neither on the number of
/// threads nor on the instruction set.
class NormOfParts {
  public:
    explicit NormOfParts(std::size_t size);
    void add_part(std::span<const float> gradients, Part part);
    double norm() const;

  private:
    std::vector<double> sums_;  // of squares, a block each
};

/// What gradients are multiplied with so that their norm is at most `clip`: clip / norm when the
/// norm is larger, else 1. `clip` <= 0: no clipping.
double clip_scale(double norm, double clip);

/// sum + scale · gradients, in this part's blocks.
void add_scaled_part(std::span<float> sum, std::span<const float> gradients, double scale,
                     Part part);

}  // namespace fovea::runtime
