// Operands of contractions of halves, and how they are gone over when they are packed.
#pragma once

#include <type_traits>

#include "contract.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// One operand, of halves or of floats that are rounded when they are packed, at i = 0 (or j = 0)
/// and k = 0, and how far it moves along its own axis.
template <class T, class Stride>
struct HalfOperand {
    const T* data;
    Stride stride;
};
template <class T, class Stride>
HalfOperand(const T*, Stride) -> HalfOperand<T, Stride>;

/// The width of the panels that an operand b lies in; 0: it does not.
template <class B>
inline constexpr i64 kPanelWidth = 0;

/// b in panels of pairs of Width neighbours along j, `panel` elements from one to the next.
template <i64 Width>
struct PairPanels {
    const bf16* data;
    i64 panel;

    /// Where the columns from `column` on start.
    const bf16* at(i64 column) const {
        return data + column / Width * panel + 2 * (column % Width);
    }
};
template <i64 Width>
inline constexpr i64 kPanelWidth<PairPanels<Width>> = Width;

/// A contracted axis for one operand.
template <class Extent, class Stride>
struct Steps {
    Extent extent;
    Stride stride;
};
template <class Extent, class Stride>
Steps(Extent, Stride) -> Steps<Extent, Stride>;

/// Whether an operand has one contracted axis whose elements are neighbours.
template <class... Strides>
constexpr bool lie_along() {
    return sizeof...(Strides) == 1 && (std::is_same_v<Strides, Fixed<1>> && ...);
}

/// Calls `visit` with the address of each step, the last axis fastest.
template <class T, class Visit, class First, class... Rest>
FOVEA_INLINE void for_each_step(const T* at, const Visit& visit, First first, Rest... rest) {
    for (i64 k = 0; k < first.extent; ++k, at += first.stride) {
        if constexpr (sizeof...(rest) == 0) visit(at);
        else for_each_step(at, visit, rest...);
    }
}

/// Rows of a that are packed at a time where only one panel reads them.
inline constexpr i64 kChunkTiles = 16;

}  // namespace fovea::cpu::inline FOVEA_ISA
