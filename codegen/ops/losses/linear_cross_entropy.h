// Cross entropy of a product with the vocabulary, as one op: logits are stored nowhere.
//
// The method is that of Liger's fused loss (Hsu et al. 2024): tokens are taken in chunks, and a
// chunk's logits give its terms and, where the gradient of each term is known before the terms are,
// its part of all gradients.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/tensor.h"

namespace fovea {

/// What a node of Op::linear_cross_entropy gives, in `Node::axis`.
enum class LossResult : int { terms, x, weight, bias };

/// Its inputs; those of the bias and of the gradient of the terms may be missing.
enum class LossInput : int { x, weight, bias, labels, cotangent };

/// log Σ exp - Σ target · logit of the logits curve(x Wᵀ + b): x [rows, width], weight
/// [classes, width], bias [classes] or none, labels i32 [rows] → [rows]. The target is as in
/// smoothed_cross_entropy.
Tensor linear_cross_entropy(Tensor x, Tensor weight, Tensor bias, Tensor labels, double smoothing,
                            const LogitCurve& curve = {});

/// The curve of numbers z, and how steep it is where it gives `y`.
Tensor on_curve(const LogitCurve& curve, Tensor z);
Tensor slope_at(const LogitCurve& curve, Tensor y);
/// A gradient of logits `y` as that of the numbers that the curve was taken of.
Tensor through_curve(const LogitCurve& curve, Tensor gradient, Tensor y);

inline int loss_input(const Node& node, LossInput which) { return node.inputs[std::size_t(which)]; }
inline const LogitCurve& curve_of(const Graph& graph, const Node& node) {
    return graph.logit_curves[std::size_t(node.attribute)];
}
inline LossResult loss_result(const Node& node) { return LossResult(node.axis); }

}  // namespace fovea
