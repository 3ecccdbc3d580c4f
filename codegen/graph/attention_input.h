// The inputs of a fused attention.
#pragma once

namespace fovea {

/// Where the inputs of a fused attention stand in `Node::inputs`. Of segments it reads, for each
/// position, the first one of its segment and the one behind the last, i32 [batch, length]. The
/// last three before the captures are of gradients only: the rows' statistics, Σ output · its
/// gradient for each row [batch, (heads,) queries], and the output's gradient.
///
/// Statistics [2, batch, (heads,) queries], base 2: the largest score of each row, and the
/// logarithm of the sum of the exponentials of its scores less the largest. Apart, since their sum
/// would lose the logarithm's digits where scores are large.
enum class AttentionInput {
    query,
    key,
    value,
    lens,
    allowed,
    segment_starts,
    segment_ends,
    statistics,
    delta,
    cotangent,
    first_capture
};

}  // namespace fovea
