// The inputs of a fused attention.
#pragma once

namespace fovea {

/// Where the inputs of a fused attention stand in `Node::inputs`. The last three before the
/// captures are of gradients only: the rows' statistics, Σ output · its gradient
/// for each row [batch, (heads,) queries], and the output's gradient.
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
    statistics,
    delta,
    cotangent,
    first_capture
};

}  // namespace fovea
