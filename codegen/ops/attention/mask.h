// Which keys a query sees: predicates that compose.
#pragma once

#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea {

/// `causal`, `window(before, after)`, `padding(lens)`, `allowed(tensor)` and any `&` of them.
struct Mask {
    KeyWindow window{};
    Tensor lens{};     // i32 [batch] or [batch, queries]: keys at and past it are hidden
    Tensor allowed{};  // bool, broadcast to [batch, (heads,) queries, keys]
    MaskedRows masked_rows = MaskedRows::uniform;
    Location location{};  // where its tensors were given

    /// What a row that sees no key becomes.
    constexpr Mask with(MaskedRows rows) const {
        Mask copy = *this;
        copy.masked_rows = rows;
        return copy;
    }
    friend constexpr Mask operator&(const Mask& a, const Mask& b) {
        Mask both{.window = a.window & b.window,
                  .lens = a.lens ? a.lens : b.lens,
                  .allowed = a.allowed ? a.allowed : b.allowed,
                  .masked_rows = a.masked_rows == MaskedRows::zero ? a.masked_rows : b.masked_rows,
                  .location = a.location.line ? a.location : b.location};
        if (a.lens && b.lens) both.lens = smaller(a.lens, b.lens, both.location);
        if (a.allowed && b.allowed)
            both.allowed = logical_and(detail::At{both.location}(a.allowed), b.allowed);
        return both;
    }

  private:
    /// Lengths [batch] beside [batch, queries] are those of every query.
    static constexpr Tensor smaller(Tensor a, Tensor b, Location where) {
        if (!is_usable("padding", where, {a, b})) return poison_of({a, b});
        if (a.rank() == 1 && b.rank() == 2) a = unsqueeze(a, 1, where);
        if (a.rank() == 2 && b.rank() == 1) b = unsqueeze(b, 1, where);
        return minimum(detail::At{where}(a), detail::At{where}(b));
    }
};

inline constexpr Mask no_mask{};
/// Query i sees keys 0 to i.
inline constexpr Mask causal{.window = kCausal, .lens = {}, .allowed = {}};
/// Query i sees keys i - before to i + after: `window(127, 0)` is causal, over 128 keys.
constexpr Mask window(std::int64_t before, std::int64_t after,
                      Location location = Location::here()) {
    const auto limited = [](std::int64_t keys) {
        return keys < KeyWindow::kUnlimited ? keys : KeyWindow::kUnlimited;
    };
    return {.window = {limited(before), limited(after)},
            .lens = {},
            .allowed = {},
            .location = location};
}
/// Every query of sequence b sees the first lens[b] keys; or query q the first lens[b, q].
constexpr Mask padding(Tensor lens, Location location = Location::here()) {
    if (!is_usable("padding", location, {lens})) lens = poison_of({lens});
    return {.window = {}, .lens = lens, .allowed = {}, .location = location};
}
/// Keys where the boolean tensor is true.
constexpr Mask allowed(Tensor keys, Location location = Location::here()) {
    if (!is_usable("allowed", location, {keys})) keys = poison_of({keys});
    return {.window = {}, .lens = {}, .allowed = keys, .location = location};
}

/// Whether each key is seen, for scores [batch, ..., queries, keys]: a boolean that broadcasts to
/// `scores`; an empty Tensor without a mask.
Tensor kept_keys(Graph& graph, const Shape& scores, const Mask& mask);

}  // namespace fovea
