// Which keys a query sees: predicates that compose.
#pragma once

#include "codegen/ops/composed/statistics.h"
#include "codegen/ops/elementwise.h"

namespace fovea {

namespace detail {

/// Of segments [batch, length], whether two positions are of one: [batch, length, length].
constexpr Tensor same_segment(Tensor segments, Location location) {
    const At at{location};
    Tensor one = unsqueeze(segments, 2, location), other = unsqueeze(segments, 1, location);
    return eq(at(one), at(other));
}

}  // namespace detail

/// `causal`, `window(before, after)`, `padding(lens)`, `same(segments)`, `allowed(tensor)` and any
/// `&` of them.
struct Mask {
    KeyWindow window{};
    Tensor lens{};     // i32 [batch] or [batch, queries]: keys at and past it are hidden
    Tensor allowed{};  // bool, broadcast to [batch, (heads,) queries, keys]
    Tensor segments{};    // i32 [batch, length]: a query sees the keys of its own
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
                  .lens = a.lens.exists() ? a.lens : b.lens,
                  .allowed = a.allowed.exists() ? a.allowed : b.allowed,
                  .segments = a.segments.exists() ? a.segments : b.segments,
                  .masked_rows = a.masked_rows == MaskedRows::zero ? a.masked_rows : b.masked_rows,
                  .location = a.location.line ? a.location : b.location};
        if (a.lens.exists() && b.lens.exists()) both.lens = smaller(a.lens, b.lens, both.location);
        if (a.allowed.exists() && b.allowed.exists())
            both.allowed = logical_and(detail::At{both.location}(a.allowed), b.allowed);
        if (a.segments.exists() && b.segments.exists())
            both.segments = of_both(a.segments, b.segments, both.location);
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
    /// Positions of the same segments of both are one segment, whose number is the first of them.
    static constexpr Tensor of_both(Tensor a, Tensor b, Location where) {
        if (!is_usable("same", where, {a, b})) return poison_of({a, b});
        if (a.rank() != 2 || b.rank() != 2)
            return a.rank() != 2 ? a : b;  // refused where it is used
        Tensor in_a = detail::same_segment(a, where), in_b = detail::same_segment(b, where);
        if (in_a.is_poison() || in_b.is_poison()) return poison_of({in_a, in_b});
        const detail::At at{where};
        Tensor in_both = logical_and(at(in_a), at(in_b));
        return in_both.is_poison() ? in_both : detail::first_position(in_both, 2, false, where);
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

/// Keys of a query's own segment: `segments` (i32 [batch, length]) say which sequence of those that
/// are packed in one each position is of. Tiles that hold none are not visited.
constexpr Mask same(Tensor segments, Location location = Location::here()) {
    if (!is_usable("same", location, {segments})) segments = poison_of({segments});
    return {.window = {}, .lens = {}, .allowed = {}, .segments = segments, .location = location};
}

/// Whether each key is seen, for scores [batch, ..., queries, keys]: a boolean that broadcasts to
/// `scores`; an empty Tensor without a mask.
Tensor kept_keys(Graph& graph, const Shape& scores, const Mask& mask);

}  // namespace fovea
