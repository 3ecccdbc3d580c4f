// Where the sums of a register tile begin, what is done with them, and how often the code for it
// is written.
#pragma once

#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// A `finish` of many instructions, such as exp or dropout, or such a start: a tile's sums go
/// through memory to, or from, a loop with its only copy, instead of a copy for each sum.
template <class Finish>
struct Once : Finish {};
template <class Finish>
Once(Finish) -> Once<Finish>;

template <class Finish>
inline constexpr bool kIsOnce = false;
template <class Finish>
inline constexpr bool kIsOnce<Once<Finish>> = true;

/// Sets the vectors of a tile to value(row, vector): unrolled, or in a loop for a `Start` that is
/// written once.
template <class Start, int Rows, int Vectors, class V, class Value>
FOVEA_INLINE void start_sums(V (&sums)[Rows][Vectors], const Value& value) {
    if constexpr (kIsOnce<Start> && Rows * Vectors > 1) {
        V in_memory[Rows * Vectors];
#pragma GCC unroll 1
        for (int i = 0; i < Rows * Vectors; ++i) in_memory[i] = value(i / Vectors, i % Vectors);
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
            sums[r][v] = in_memory[r * Vectors + v];
    } else {
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
            sums[r][v] = value(r, v);
    }
}

/// Calls body(row, vector, sum) for the sums of a tile: unrolled, or in a loop for a `Finish` that
/// is written once.
template <class Finish, int Rows, int Vectors, class V, class Body>
FOVEA_INLINE void for_sums(const V (&sums)[Rows][Vectors], const Body& body) {
    if constexpr (kIsOnce<Finish> && Rows * Vectors > 1) {
        V in_memory[Rows * Vectors];
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
            in_memory[r * Vectors + v] = sums[r][v];
#pragma GCC unroll 1
        for (int i = 0; i < Rows * Vectors; ++i) body(i / Vectors, i % Vectors, in_memory[i]);
    } else {
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
            body(r, v, sums[r][v]);
    }
}

/// The `finish` that stores the product and does nothing else. It is a type, so that kernels can
/// share code.
struct StoreProduct {
    float* to;
    i64 row;  // elements between rows

    FOVEA_INLINE void operator()(i64 i, i64 j, Lanes lanes, floats product) const {
        store(to + i * row + j, product, lanes);
    }
};

/// The `finish` that adds the product to what lies in `before`, in rows as far apart as those of
/// `to`; they may be the same. Tiles of few steps fetch what the next one adds to.
struct AddProduct {
    float* to;
    const float* before;
    i64 row;

    FOVEA_INLINE void operator()(i64 i, i64 j, Lanes lanes, floats product) const {
        const i64 at = i * row + j;
        store(to + at, product + load(before + at, lanes), lanes);
    }
};

}  // namespace fovea::cpu::inline FOVEA_ISA
