// Rearrangements as values: inverse, composition, simplest form.
#pragma once

#include <optional>

#include "codegen/graph/node.h"

namespace fovea {

/// The rearrangement that undoes `axes`.
RearrangeAxes inverse(const RearrangeAxes& axes);
/// `first`, then `second`, as one; nothing when their splits do not nest.
std::optional<RearrangeAxes> compose(const RearrangeAxes& first, const RearrangeAxes& second);
/// The same with as few axes as possible: none of size 1, neighbours that stay together merged.
RearrangeAxes simplified(const RearrangeAxes& axes);
/// Whether it leaves every axis as it is.
bool is_identity(const RearrangeAxes& axes);
/// Whether it only permutes axes (splits, merges, adds and drops none).
bool is_permutation(const RearrangeAxes& axes);

}  // namespace fovea
