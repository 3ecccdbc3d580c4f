// Where the segments of packed sequences lie: what kernels of attention bound their loops by.
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

/// For each position of segments [batch, length] the first position of its segment, and the one
/// behind the last: i32 [batch, length]. Two positions are of one segment where their first is the
/// same. Sequences of at most 2^24 positions.
struct SegmentBounds {
    Tensor first{}, end{};
};
SegmentBounds bounds_of_segments(Tensor segments);

}  // namespace fovea
