// The same sums by tiles of AMX.
#pragma once

#include "panel_products.h"

#if defined(__AMX_BF16__)

namespace fovea::cpu::inline FOVEA_ISA {

/// The sums of `rows` rows with such a panel by tiles, whose shapes are set: Whole where they are
/// kMatrixRows. Those of a pair of groups are multiplied with their scales while the next ones are
/// on their way.
template <int Group, bool Whole>
FOVEA_SHARED __attribute__((noinline)) void matrix_product_of_rows(floats* totals, i64 rows,
                                                                   const bf16* a, i64 row,
                                                                   const bf16* b,
                                                                   const std::uint32_t* panel,
                                                                   const WeightLayout& layout) {
    constexpr i64 kTile = kMatrixRows * kLanes, kBytes = sizeof(bf16);
    alignas(64) float sums[2][2 * kTile];
    asm volatile("" : : : "memory");  // g++ 12's loads of tiles do not say that they read memory
    const auto multiply = [&](i64 pair) FOVEA_LAMBDA {
        _tile_zero(0);
        _tile_zero(1);
        for (i64 k = 2 * pair * Group; k < (2 * pair + 1) * Group; k += kMatrixSteps) {
            _tile_loadd(6, b + k * kLanes, 2 * kLanes * kBytes);
            _tile_loadd(4, a + k, row * kBytes);
            _tile_dpbf16ps(0, 4, 6);
            _tile_loadd(7, b + (k + Group) * kLanes, 2 * kLanes * kBytes);
            _tile_loadd(4, a + k + Group, row * kBytes);
            _tile_dpbf16ps(1, 4, 7);
        }
        _tile_stored(0, sums[pair % 2], kLanes * i64(sizeof(float)));
        _tile_stored(1, sums[pair % 2] + kTile, kLanes * i64(sizeof(float)));
    };
    floats c[kMatrixRows];
    FOVEA_UNROLL for (floats& total : c) total = floats{};
    const auto add = [&](i64 pair) FOVEA_LAMBDA {
        const Scales scales(panel + pair * layout.words_of_pair());
        const float* const of_pair = sums[pair % 2];
        const auto add_row = [&](i64 r) FOVEA_LAMBDA {
            c[r] = multiply_add(scales.first, load(of_pair + r * kLanes), c[r]);
            c[r] = multiply_add(scales.second, load(of_pair + kTile + r * kLanes), c[r]);
        };
        if constexpr (Whole) {
            FOVEA_UNROLL for (i64 r = 0; r < kMatrixRows; ++r) add_row(r);
        } else {
#pragma GCC unroll 1
            for (i64 r = 0; r < rows; ++r) add_row(r);
        }
    };
    multiply(0);
    for (i64 pair = 1; pair < layout.pairs(); ++pair) {
        multiply(pair);
        add(pair - 1);
    }
    add(layout.pairs() - 1);
    FOVEA_UNROLL for (i64 r = 0; r < kMatrixRows; ++r) totals[r] = c[r];
}

}  // namespace fovea::cpu::inline FOVEA_ISA

#endif
