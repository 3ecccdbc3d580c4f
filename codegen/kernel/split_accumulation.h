// Rewrite for parallel targets: a value that tiles accumulate into one after the other is computed
// by a kernel of its own, without atomics.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// A kernel in which tiles of one axis go over tiles of another and add to a buffer at the
/// positions of that other axis: the gradient of attention, whose key tiles add to the gradient of
/// the queries. Two kernels compute the same, and no tile of either waits for another: the first
/// all but that buffer, in `par` tiles of the outer axis; the second that buffer, in `par` tiles of
/// the inner one, with the sum over the outer axis carried, which goes over those tiles alone that
/// the first one's bounds let a position meet. Where the outer loop carries sums over all tiles, a
/// third computes these, tile after tile. Empty where a kernel is not of this kind.
std::vector<Kernel> split_accumulation(const Kernel& kernel);

}  // namespace fovea::kernel
