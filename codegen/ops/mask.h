// Which keys a query sees: predicates that compose.
#pragma once

#include "codegen/ops/elementwise.h"

namespace fovea {

/// `causal`, `padding(lens)`, `allowed(tensor)` and any `&` of them.
struct Mask {
    bool is_causal = false;
    Tensor lens{};     // i32 [batch] or [batch, queries]: keys at and past it are hidden
    Tensor allowed{};  // bool, broadcast to [batch, (heads,) queries, keys]
    MaskedRows masked_rows = MaskedRows::uniform;

    /// What a row that sees no key becomes.
    constexpr Mask with(MaskedRows rows) const {
        Mask copy = *this;
        copy.masked_rows = rows;
        return copy;
    }
    friend constexpr Mask operator&(const Mask& a, const Mask& b) {
        Mask both{.is_causal = a.is_causal || b.is_causal,
                  .lens = a.lens ? a.lens : b.lens,
                  .allowed = a.allowed ? a.allowed : b.allowed,
                  .masked_rows = a.masked_rows == MaskedRows::zero ? a.masked_rows : b.masked_rows};
        if (a.lens && b.lens) both.lens = minimum(a.lens, b.lens);
        if (a.allowed && b.allowed) both.allowed = logical_and(a.allowed, b.allowed);
        return both;
    }
};

inline constexpr Mask no_mask{};
/// Query i sees keys 0 to i.
inline constexpr Mask causal{.is_causal = true, .lens = {}, .allowed = {}};
/// Every query of sequence b sees the first lens[b] keys; or query q the first lens[b, q].
constexpr Mask padding(Tensor lens) { return {.is_causal = false, .lens = lens, .allowed = {}}; }
/// Keys where the boolean tensor is true.
constexpr Mask allowed(Tensor keys) { return {.is_causal = false, .lens = {}, .allowed = keys}; }

/// Whether each key is seen, for scores [batch, ..., queries, keys]: a boolean that broadcasts to
/// `scores`; an empty Tensor without a mask.
Tensor kept_keys(Graph& graph, const Shape& scores, const Mask& mask);

}  // namespace fovea
