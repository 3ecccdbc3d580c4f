// From a model of text, the program that says how likely given tokens are.
#pragma once

#include <optional>

#include "codegen/graph/graph.h"

namespace fovea {

/// Inputs are `labels` i32 [batch, len] and those that the logits of the model depend on, with ids
/// [batch, len]; the output `nats` [batch, len] is the cross entropy of each label by the logits
/// at its position, whatever loss the model has. The model is that of evaluation (select_mode).
/// None where logits are no floats [batch, len, tokens], or where something that they depend
/// on is called `labels`, too. UserError where there are no ids or logits, or where ops mix
/// positions (why_not_decodable).
std::optional<Graph> derive_score(const Graph& model);

}  // namespace fovea
