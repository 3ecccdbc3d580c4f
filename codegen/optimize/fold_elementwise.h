// Simplifications of elementwise nodes; a part of `fold`.
#pragma once

#include <optional>

#include "codegen/graph/rewrite.h"

namespace fovea {

/// A simpler value that equals elementwise node `id`, if there is one.
std::optional<Tensor> fold_elementwise(Rewrite& rewrite, int id);

/// The scalar that x broadcasts: of a constant, a scalar, or a scalar's broadcast; an empty Tensor
/// for others.
Tensor uniform_value(Tensor x);

}  // namespace fovea
