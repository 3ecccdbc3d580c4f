// Simplifications of elementwise nodes; a part of `fold`.
#pragma once

#include <optional>

#include "codegen/graph/rewrite.h"

namespace fovea {

/// What to put in place of elementwise node `id`, if anything simpler is the same.
std::optional<Tensor> fold_elementwise(Rewrite& rewrite, int id);

/// The scalar that x repeats: of a constant, a scalar, or a scalar's broadcast; an empty Tensor for
/// others.
Tensor uniform_value(Tensor x);

}  // namespace fovea
