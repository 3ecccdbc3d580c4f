// Products of the few rows of a tile with rows that stay as they lie in memory: queries of a step
// of decoding with the keys of a cache, which are not worth to be turned for so few. Sums are taken
// along the rows, lane by lane and then across the lanes; of bfloat16 by tiles where there are any.
#pragma once

#include "paired_tiles.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Rows of a tile in memory, `stride` elements apart.
template <class T>
struct TileRows {
    const T* data;
    i64 stride;
};
template <class T>
FOVEA_INLINE TileRows<T> tile_rows_at(const T* data, i64 stride) {
    return {data, stride};
}

/// The products of two rows of `steps`, not yet added across the lanes.
template <class A, class B, class Steps>
FOVEA_INLINE floats products_along(const A* a, const B* b, Steps steps) {
    floats sum{};
    if constexpr (std::is_same_v<A, bf16> && std::is_same_v<B, bf16> && kMultipliesPairs) {
        for (i64 k = 0; k < steps; k += 2 * kLanes)
            sum = add_products(words_along(a + k, steps - k), words_along(b + k, steps - k), sum);
    } else {
        for (i64 k = 0; k < steps; k += kLanes) {
            const Lanes lanes = lanes_at(k, steps);
            sum = multiply_add(load(a + k, lanes), load(b + k, lanes), sum);
        }
    }
    return sum;
}

#if defined(__AMX_BF16__)

/// The sums of two times 16 rows of memory, [row, kLanes], with the columns of all pairs of steps,
/// [pair, kLanes, 2].
template <i64 Steps>
FOVEA_INLINE void multiply_rows_by_tiles(float* sums, StepsInPairs first, StepsInPairs second,
                                         const bf16* columns) {
    constexpr i64 kBytes = sizeof(bf16), kRow = kLanes * i64(sizeof(float));
    asm volatile("" : : : "memory");  // g++ 12's loads of tiles do not say that they read memory
    _tile_zero(2);
    _tile_zero(3);
    FOVEA_UNROLL for (i64 k = 0; k < Steps; k += kMatrixSteps) {
        _tile_loadd(6, columns + k * kLanes, 2 * kLanes * kBytes);
        _tile_loadd(5, first.data + k, first.stride * kBytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_loadd(5, second.data + k, second.stride * kBytes);
        _tile_dpbf16ps(3, 5, 6);
    }
    _tile_stored(2, sums, kRow);
    _tile_stored(3, sums + kMatrixRows * kLanes, kRow);
}

/// `multiply_few_rows` by tiles of the columns' rows, which have the few rows beside them.
template <i64 Steps, class Finish>
FOVEA_INLINE void multiply_few_rows_by_tiles(i64 rows, i64 columns, StepsInPairs a, StepsInPairs b,
                                             const Finish& finish) {
    alignas(64) bf16 in_pairs[Steps * kLanes], last[kMatrixRows * Steps];
    alignas(64) float sums[kMatrixBlock * kLanes];
    FOVEA_UNROLL for (i64 pair = 0; pair < Steps / 2; ++pair)
        store_as(in_pairs + 2 * pair * kLanes, words{});
    for (i64 row = 0; row < rows; ++row)
        FOVEA_UNROLL for (i64 pair = 0; pair < Steps / 2; ++pair)
            std::memcpy(in_pairs + 2 * (pair * kLanes + row), a.at(row, pair), 2 * sizeof(bf16));
    const auto rows_from = [&](i64 column) FOVEA_LAMBDA {
        const StepsInPairs some{b.data + column * b.stride, b.stride};
        const i64 left = columns - column;
        if (left >= kMatrixRows) return some;
        for (i64 i = 0; i < kMatrixRows; ++i)
            for (i64 k = 0; k < Steps; k += kMatrixSteps)
                store_as(last + i * Steps + k,
                         i < left ? load_as<words>(some.data + i * some.stride + k) : words{});
        return StepsInPairs{last, Steps};
    };
    MatrixShapes::set(int(rows), int(kMatrixRows));
    for (i64 column = 0; column < columns; column += kMatrixBlock) {
        const StepsInPairs first = rows_from(column);
        const bool has_second = column + kMatrixRows < columns;
        multiply_rows_by_tiles<Steps>(
            sums, first, has_second ? rows_from(column + kMatrixRows) : first, in_pairs);
        for (i64 row = 0; row < rows; ++row) {
            finish(row, column, load_strided(sums + row, kLanes, Lanes{}));
            if (has_second)
                finish(row, column + kMatrixRows,
                       load_strided(sums + kMatrixRows * kLanes + row, kLanes, Lanes{}));
        }
    }
}

#endif

/// Calls finish(row, column, sums) for few rows of a tile and all rows of another, its columns, 16
/// of these at a time. `steps` are those along the rows, which are TileRows or StepsInPairs.
template <class Rows, class Columns, class Steps, class Finish>
FOVEA_INLINE void multiply_few_rows(i64 rows, i64 columns, Steps steps, Rows a, Columns b,
                                    const Finish& finish) {
#if defined(__AMX_BF16__)
    if constexpr (std::is_same_v<Columns, StepsInPairs> && kKnown<Steps> > 0 &&
                  kKnown<Steps> % kMatrixSteps == 0)
        return multiply_few_rows_by_tiles<kKnown<Steps>>(rows, columns, a, b, finish);
#endif
    for (i64 column = 0; column < columns; column += kLanes) {
        const i64 left = columns - column;
        const auto* const first = b.data + column * b.stride;
        for (i64 row = 0; row < rows; ++row) {
            floats products[kLanes];
            const auto multiply = [&](i64 i) FOVEA_LAMBDA {
                return products_along(a.data + row * a.stride, first + i * b.stride, steps);
            };
            if (left >= kLanes) {
                FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) products[i] = multiply(i);
            } else {
                for (i64 i = 0; i < kLanes; ++i) products[i] = i < left ? multiply(i) : floats{};
            }
            finish(row, column, sums_across<int(kLanes)>(products));
        }
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
