// The parts that cross entropies are made of, whether their logits are stored or not.
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

/// Whether a class is the label: labels [...], boolean [..., classes].
Tensor is_label(const Dim& classes, Tensor labels);

/// At the label 1 - `smoothing`, elsewhere smoothing / (classes - 1): labels [...],
/// [..., classes].
Tensor smoothed_target(double smoothing, const Dim& classes, Tensor labels);

/// log Σ exp - Σ target · logit of each step: logits [..., classes], labels [...] → [...]. Its
/// nodes are those of softmax's body.
Tensor cross_entropy_terms(double smoothing, Tensor logits, Tensor labels);

/// What a cross_entropy, or a smoothed one, makes of the terms [batch, steps]: [batch].
Tensor loss_of_terms(const Node& node, Tensor terms, Tensor labels, Tensor lens);

}  // namespace fovea
