// Makes the product with the vocabulary, its cross entropy and their gradients one op.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/graph/graph.h"
#include "codegen/group/fuse_attention.h"

namespace fovea {

/// The product whose results are the logits of a cross entropy; ids are of its graph.
struct LossProduct {
    int x = 0, weight = 0, bias = -1;  // [..., width], a matrix, [classes] or -1
    bool in_out = false;  // the matrix is [width, classes]
    LogitCurve curve{};   // that the logits are of the product and the bias
    Dim rows{}, classes{}, width{};
};

/// Why the logits of a cross entropy, node `id`, are stored whatever is chosen; nothing where
/// `found` is the product that they come from.
std::optional<std::string> why_not_fused_loss(const Graph& graph, int id, LossProduct& found);

/// Why a loss that could do without its logits stores them; none: it does without.
using WhyLogits = std::function<std::optional<std::string>(int id, const LossProduct& product)>;

/// Every cross entropy of a product becomes a linear_cross_entropy, its terms added up by plain
/// ops, where `why_not_fused_loss` has nothing to say, nor `why_not_here`; their reasons go to
/// `notes`.
Graph fuse_loss(const Graph& graph, const WhyLogits& why_not_here, Notes& notes);

/// The terms of a loss come from the sweep over its tokens that gives its gradients, too, where
/// what is given for the terms does not depend on them; else the logits are made twice, which goes
/// to `notes`. For graphs with gradients.
Graph join_losses(const Graph& graph, Notes& notes);

}  // namespace fovea
