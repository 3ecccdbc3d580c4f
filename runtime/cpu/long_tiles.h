// Whole register tiles of products of packed panels, with AVX2: 6 rows of 16 columns. The loop is
// written out for eight steps, in the fewest instructions that there are for them. Where two
// threads share a core, instructions are what it is short of. Compilers find no registers for such
// a loop, so it is written in assembly; one copy of it serves every kernel.
#pragma once

#include "operands.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

inline constexpr int kLongTileRows = 6;
/// Steps of a sum that are written out, and lines that are fetched meanwhile.
inline constexpr i64 kLongTileSteps = 8, kLongTileLines = 3;

/// Lines that a tile fetches on its way, `stride` elements apart.
struct LinesAhead {
    const float* first;
    i64 stride;
};

/// Where sums begin.
enum class SumsBegin { at_zero, in_memory };

#if defined(__AVX2__) && !defined(__AVX512F__)
inline constexpr bool kHasLongTiles = true;

// The sums of a row are in two registers. A step loads 16 columns, and multiplies them by a number
// of each row.
#define FOVEA_ROW(number, low, high)     \
    "vbroadcastss " number               \
    ", %%ymm2\n\t"                       \
    "vfmadd231ps %%ymm0, %%ymm2, %%" low \
    "\n\t"                               \
    "vfmadd231ps %%ymm1, %%ymm2, %%" high "\n\t"
#define FOVEA_COLUMNS(step) \
    "vmovups 64*" #step     \
    "(%[b]), %%ymm0\n\t"    \
    "vmovups 64*" #step "+32(%[b]), %%ymm1\n\t"
#define FOVEA_STEP(step, r0, r1, r2, r3, r4, r5) \
    FOVEA_COLUMNS(step)                          \
    FOVEA_ROW(r0, "ymm3", "ymm4")                \
    FOVEA_ROW(r1, "ymm5", "ymm6")                \
    FOVEA_ROW(r2, "ymm7", "ymm8")                \
    FOVEA_ROW(r3, "ymm9", "ymm10") FOVEA_ROW(r4, "ymm11", "ymm12") FOVEA_ROW(r5, "ymm13", "ymm14")
// Rows that lie apart: three of them from `a` on, three from `d` on.
#define FOVEA_STEP_APART(step)                                                                \
    FOVEA_STEP(step, "4*" #step "(%[a])", "4*" #step "(%[a],%[row])",                         \
               "4*" #step "(%[a],%[row],2)", "4*" #step "(%[d])", "4*" #step "(%[d],%[row])", \
               "4*" #step "(%[d],%[row],2)")
// Packed rows: the numbers of a step lie side by side.
#define FOVEA_STEP_PACKED(step)                                                            \
    FOVEA_STEP(step, "24*" #step "(%[a])", "24*" #step "+4(%[a])", "24*" #step "+8(%[a])", \
               "24*" #step "+12(%[a])", "24*" #step "+16(%[a])", "24*" #step "+20(%[a])")
#define FOVEA_ADVANCE_APART(steps) \
    "add $4*" #steps               \
    ", %[a]\n\t"                   \
    "add $4*" #steps ", %[d]\n\t"
#define FOVEA_ADVANCE_PACKED(steps) "add $24*" #steps ", %[a]\n\t"
#define FOVEA_CLEAR(at, sum) "vxorps %%" sum ", %%" sum ", %%" sum "\n\t"
#define FOVEA_LOAD(at, sum) "vmovaps " #at "(%[sums]), %%" sum "\n\t"
#define FOVEA_STORE(at, sum) "vmovaps %%" sum ", " #at "(%[sums])\n\t"

#define FOVEA_SUMS(each)                                                                 \
    each(0, "ymm3") each(32, "ymm4") each(64, "ymm5") each(96, "ymm6") each(128, "ymm7") \
        each(160, "ymm8") each(192, "ymm9") each(224, "ymm10") each(256, "ymm11")        \
            each(288, "ymm12") each(320, "ymm13") each(352, "ymm14")

// All steps: eight at a time, then the rest, of which there may be none.
#define FOVEA_LONG_TILE(BEGIN, STEP, ADVANCE) \
    FOVEA_SUMS(BEGIN)                         \
    "sub $8, %[left]\n\t"                                                                         \
    "jl 2f\n\t"                                                                                   \
    ".p2align 5\n"                                                                                \
    "1:\n\t"                                                                                      \
    STEP(0) STEP(1) "prefetcht1 (%[next])\n\t"                                                    \
    STEP(2) STEP(3) "prefetcht1 (%[next],%[stride])\n\t"                                          \
    STEP(4) STEP(5) "prefetcht1 (%[next],%[stride],2)\n\t"                                        \
    STEP(6) STEP(7) ADVANCE(8)                                                                    \
    "add $512, %[b]\n\t"                                                                          \
    "add %[lines], %[next]\n\t"                                                                   \
    "sub $8, %[left]\n\t"                                                                         \
    "jge 1b\n"                                                                                    \
    "2:\n\t"                                                                                      \
    "add $8, %[left]\n\t"                                                                         \
    "je 4f\n"                                                                                     \
    "3:\n\t"                                                                                      \
    STEP(0) ADVANCE(1)                                                                            \
    "add $64, %[b]\n\t"                                                                           \
    "dec %[left]\n\t"                                                                             \
    "jne 3b\n"                                                                                    \
    "4:\n\t"                                                                                      \
    FOVEA_SUMS(FOVEA_STORE)

/// sums[i, j], which begin where `begin` says, get a[i, k] * b[k, j] of all `steps` added, in their
/// order. b is [steps, 16]; the rows of a are `row` elements apart, or 1: packed, [steps, 6].
template <SumsBegin begin, class Row>
FOVEA_SHARED __attribute__((noinline)) void long_tile(floats (&sums)[kLongTileRows][1],
                                                      const float* a, Row row, const float* b,
                                                      i64 steps, LinesAhead next) {
    constexpr i64 kBytes = sizeof(float);
    const i64 stride = next.stride * kBytes;
    const i64 lines = kLongTileLines * stride;
    [[maybe_unused]] const float* d = a + 3 * row;
    [[maybe_unused]] const i64 apart = row * kBytes;
#define FOVEA_CLOBBERED                                                                      \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
        "xmm11", "xmm12", "xmm13", "xmm14", "cc", "memory"
#define FOVEA_PACKED_TILE(BEGIN)                                                         \
    asm volatile(FOVEA_LONG_TILE(BEGIN, FOVEA_STEP_PACKED, FOVEA_ADVANCE_PACKED)         \
                 : [a] "+r"(a), [b] "+r"(b), [left] "+r"(steps), [next] "+r"(next.first) \
                 : [stride] "r"(stride), [lines] "r"(lines), [sums] "r"(sums)            \
                 : FOVEA_CLOBBERED)
#define FOVEA_TILE_APART(BEGIN)                                                              \
    asm volatile(                                                                            \
        FOVEA_LONG_TILE(BEGIN, FOVEA_STEP_APART, FOVEA_ADVANCE_APART)                        \
        : [a] "+r"(a), [d] "+r"(d), [b] "+r"(b), [left] "+r"(steps), [next] "+r"(next.first) \
        : [row] "r"(apart), [stride] "r"(stride), [lines] "r"(lines), [sums] "r"(sums)       \
        : FOVEA_CLOBBERED)
    constexpr bool kPacked = kKnown<Row> == 1, kClear = begin == SumsBegin::at_zero;
    if constexpr (kPacked && kClear) FOVEA_PACKED_TILE(FOVEA_CLEAR);
    else if constexpr (kPacked) FOVEA_PACKED_TILE(FOVEA_LOAD);
    else if constexpr (kClear) FOVEA_TILE_APART(FOVEA_CLEAR);
    else FOVEA_TILE_APART(FOVEA_LOAD);
}
#undef FOVEA_TILE_APART
#undef FOVEA_PACKED_TILE
#undef FOVEA_CLOBBERED
#undef FOVEA_LONG_TILE
#undef FOVEA_SUMS
#undef FOVEA_STORE
#undef FOVEA_LOAD
#undef FOVEA_CLEAR
#undef FOVEA_ADVANCE_PACKED
#undef FOVEA_ADVANCE_APART
#undef FOVEA_STEP_PACKED
#undef FOVEA_STEP_APART
#undef FOVEA_STEP
#undef FOVEA_COLUMNS
#undef FOVEA_ROW

#else
inline constexpr bool kHasLongTiles = false;
template <SumsBegin begin, class Row>
void long_tile(floats (&sums)[kLongTileRows][1], const float* a, Row row, const float* b, i64 steps,
               LinesAhead next);
#endif

}  // namespace fovea::cpu::inline FOVEA_ISA
