// Rewrites of kernels with loops over tiles, for targets that run them tile by tile on one core.
// Each preserves the kernel's values, up to rounding, and its buffers.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Drops where(valid axis, x, y) for x wherever the tiles of a loop end exactly at its bound: no
/// lower bound, and an upper one that is the same for all positions of a tile.
void drop_certain_masks(Kernel& kernel);

/// contract(a, b) * f becomes contract(a * f, b) where `a` is loop-invariant for the loop of the
/// contraction, and f has no other axes: a scale is then applied once per tile. Where factors are
/// rounded to halves, only by an f that is a power of two or zero: the others would round `a` anew.
void hoist_factors(Kernel& kernel);

/// A sum or maximum over several axes becomes one after the other: axes without a loop first, then
/// those of the inner loops.
void split_reductions(Kernel& kernel);

/// Drops maps, constants and conditions that nothing reads.
void drop_unused(Kernel& kernel);

/// All of these, and exponentials split.
Kernel rewrite_for_tiles(Kernel kernel);

}  // namespace fovea::kernel
