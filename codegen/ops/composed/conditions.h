// Conditions of elements, written as in C++.
#pragma once

#include "codegen/ops/elementwise.h"

namespace fovea {

namespace detail {

/// Where a value was made, for operators that cannot know where they are written.
constexpr Location made_at(Tensor x) { return x.exists() ? x.node().location : Location{}; }

}  // namespace detail

/// `eq` of elements, and its opposite.
constexpr Tensor operator==(Operand a, Operand b) { return eq(a, b); }
constexpr Tensor operator!=(Operand a, Operand b) { return logical_not(eq(a, b), a.location); }

/// `logical_and`, `logical_or` and `logical_not` of elements: nothing is skipped.
constexpr Tensor operator&&(Tensor a, Tensor b) {
    const detail::At of{detail::made_at(a)};
    return logical_and(of(a), of(b));
}
constexpr Tensor operator||(Tensor a, Tensor b) {
    const detail::At of{detail::made_at(a)};
    return logical_or(of(a), of(b));
}
constexpr Tensor operator!(Tensor x) { return logical_not(x, detail::made_at(x)); }

}  // namespace fovea
