// The operands of contractions and their contracted axes: how far they move, what of it is known
// when the code is compiled, and what follows for packing and fetching.
#pragma once

#include <type_traits>

#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// A size that the compiler knows.
template <i64 N>
using Fixed = std::integral_constant<i64, N>;
template <i64 N>
inline constexpr Fixed<N> fixed{};

template <class T>
inline constexpr i64 kKnown = 0;  // the value of a known size, or 0
template <i64 N>
inline constexpr i64 kKnown<Fixed<N>> = N;

#ifdef __AVX512F__
/// Every second element: two vectors, of which one instruction picks them.
FOVEA_INLINE floats load_strided(const float* from, Fixed<2>, Lanes lanes) {
    const i64 reach = 2 * lanes.count - 1;
    const floats low = load(from, lanes_at(0, reach));
    const floats high = load(from + kLanes, lanes_at(kLanes, reach));
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
                                   30);
}
#endif

/// One operand at i = 0 (or j = 0) and k = 0, and how far it moves along its own axis.
template <class Stride>
struct Operand {
    const float* data;
    Stride stride;
};
template <class Stride>
Operand(const float*, Stride) -> Operand<Stride>;

/// b in panels of Width neighbours along j, `panel` elements from one to the next: each is read
/// from start to end, however few rows there are.
template <i64 Width>
struct PanelOperand {
    const float* data;
    i64 panel;
};

/// One contracted axis: its extent, and how far the operands move along it.
template <class Extent, class StepA, class StepB>
struct Sum {
    Extent extent;
    StepA a;
    StepB b;
};
template <class Extent, class StepA, class StepB>
Sum(Extent, StepA, StepB) -> Sum<Extent, StepA, StepB>;

/// The number of steps over all contracted axes.
template <class... Sums>
FOVEA_INLINE i64 steps_of(const Sums&... sums) {
    return (i64(1) * ... * i64(sums.extent));
}

/// From this many rows on, packing a panel that lies in many pages pays.
inline constexpr i64 kRowsToPack = 48;
inline constexpr i64 kSmallPanel = 8192;  // floats: from its first to its last element in 32 KiB

/// Whether the rows of b that a panel reads lie in more memory than the first cache.
template <class... Sums>
FOVEA_INLINE bool spreads_wide(const Sums&... sums) {
    return ((i64(sums.extent) * i64(sums.b) > kSmallPanel) || ...);
}
/// Whether that is known to be never so.
template <class... Sums>
constexpr bool is_small() {
    return ((kKnown<decltype(Sums::extent)> * kKnown<decltype(Sums::b)> > 0 &&
             kKnown<decltype(Sums::extent)> * kKnown<decltype(Sums::b)> <= kSmallPanel) &&
            ...);
}

/// Whether the rows of a lie side by side, and steps far apart: a tile of them, read as it lies,
/// would take a page for each step.
template <class StrideA, class... Sums>
constexpr bool may_pack_rows() {
    if constexpr (sizeof...(Sums) != 1) return false;
    else return std::is_same_v<StrideA, Fixed<1>> && (kKnown<decltype(Sums::a)> + ...) != 1;
}

/// From so many steps on, a sum fetches what comes next on its way.
inline constexpr i64 kLongSum = 256;
/// Whether a sum is known to be so long.
template <class... Sums>
constexpr bool is_long() {
    return sizeof...(Sums) == 1 && ((kKnown<decltype(Sums::extent)> >= kLongSum) && ...);
}

/// Whether a second cache has room for a panel whose steps lie far apart: those that are the same
/// power of two apart share a few of its sets.
template <class... Sums>
constexpr bool is_cached() {
    constexpr i64 kMost = 256 * 1024;  // floats: from its first to its last element in 1 MiB
    return ((kKnown<decltype(Sums::b)> > 0 &&
             kKnown<decltype(Sums::extent)> * kKnown<decltype(Sums::b)> <= kMost) &&
            ...);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
