// How a product of matrices is cut: register tiles, panels of columns, blocks of rows, and each
// thread's part of them.
#pragma once

#include "operands.h"
#include "threads.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Kernels ask for tiles of Rows x Vectors that fit 32 registers of 16 lanes. Where the registers
/// hold less, a tile is one vector wide and takes three quarters of them, of wide tiles, too, which
/// have fewer rows: 6 rows of two (AVX2) or of four registers (NEON, which has twice as many), or 3
/// rows of four (of which b's columns are read again for each row).
constexpr int tile_vectors(int vectors) { return kRegisterVectors < 32 ? 1 : vectors; }
constexpr int tile_rows(int rows, int vectors) {
    constexpr int kMost = kRegisterVectors - kRegisterVectors / 4;
    return kRegisterVectors < 32 && rows * vectors > kMost ? kMost : rows;
}

/// Rows row to row + rows - 1 and up to 16 * Vectors columns of the product at one point. Its rows
/// are of a block of rows, which is `fresh` at its first panel, and `reused` at others. It comes
/// `behind_long` where the panel before it in the block had a tile of rows for each of its vectors.
struct Panel {
    i64 point, row, rows, column, columns;
    i64 next_column;  // of the panel after it in the block; 0: it is the last
    i64 block_row, block_rows;
    bool fresh, reused, behind_long;
};

constexpr i64 common_divisor(i64 a, i64 b) { return b == 0 ? a : common_divisor(b, a % b); }

/// Tiles of rows that fill whole lines together.
template <int Rows>
inline constexpr i64 kTilesOfLines = kLanes / common_divisor(kLanes, Rows);

#ifdef __AMX_BF16__
/// Elements of a that a block of rows holds, packed or not: products of tiles take rows faster than
/// any cache but the second gives them, which has 2 MB on machines with such products.
inline constexpr i64 kPackedFloats = 256 * 1024, kWidenedFloats = kPackedFloats,
                     kCachedFloats = kPackedFloats;
#else
/// Elements of a that a block of packed rows holds: it is read in order, from any cache.
inline constexpr i64 kPackedFloats = 768 * 1024;
/// Those that a block of rows of bfloat16 has that lie as they are: they become floats, unless an
/// instruction multiplies pairs; then all rows are one block, which is 0.
#ifdef FOVEA_MULTIPLIES_PAIRS
inline constexpr i64 kWidenedFloats = 0;
#else
inline constexpr i64 kWidenedFloats = kPackedFloats;
#endif
/// Those of a block of rows that lie as they are: a second cache holds it beside a panel of b. It
/// has 1 MB at least where AVX-512 is.
#ifdef __AVX512F__
inline constexpr i64 kCachedFloats = 128 * 1024;
#else
inline constexpr i64 kCachedFloats = 64 * 1024;
#endif
#endif
/// Those of a block of rows that lie as they are and meet panels of floats. 0, all rows, where sums
/// are long and tiles narrower than panels, which are then copied for the rows that they meet.
FOVEA_INLINE i64 cached_floats(i64 steps) {
    return kRegisterVectors < 32 && steps >= kLongSum ? 0 : kCachedFloats;
}
/// No block has fewer rows than all.
inline constexpr i64 kAllRows = i64(~0ULL >> 1);

/// This thread's part of the tiles of `points` products: the rows of a panel come one after the
/// other, so that a panel is used for all of them. With `steps`, the length of the sums, rows are
/// taken in blocks of about `elements`, each for all panels, and a thread's part is rows where
/// there are enough of them: no two threads pack the same, and the kernel behind finds its rows
/// where it made them. `elements` of 0: as without `steps`.
template <int Rows, int Vectors>
class Panels {
  public:
    Panels(i64 points, i64 rows, i64 columns, i64 steps = 0, i64 elements = 0)
        : rows_(rows),
          columns_(columns),
          panels_((columns + kWidth - 1) / kWidth),
          tiles_((rows + kRows - 1) / kRows) {
        if (elements == 0) steps = 0;
        block_ = steps > 0 && panels_ > 1 ? elements / (steps * kRows) : tiles_;
        if (block_ < kLeastTiles) block_ = kLeastTiles;
        if (block_ > tiles_) block_ = tiles_;
        by_rows_ = block_ > 0 && steps > 0 && tiles_ >= kLeastTiles * Team::part().count;
        if (by_rows_) share_rows(points);
        else share_tiles(points);
    }

    struct End {};
    Panels& begin() { return *this; }
    End end() const { return {}; }
    bool operator!=(End) const { return left_ > 0; }
    Panel operator*() const {
        const i64 row = (first_ + tile_) * kRows, column = panel_ * kWidth;
        const i64 last = (first_ + tile_ + count()) * kRows;
        const i64 block_row = first_ * kRows, block_last = (first_ + size_) * kRows;
        return {point_,
                origin_ + row,
                (last < rows_ ? last : rows_) - row,
                column,
                columns_ - column < kWidth ? columns_ - column : kWidth,
                panel_ + 1 < panels_ ? column + kWidth : 0,
                origin_ + block_row,
                (block_last < rows_ ? block_last : rows_) - block_row,
                fresh_,
                panels_ > 1,
                behind_long_};
    }
    void operator++() {
        behind_long_ = panel_ + 1 < panels_ && (**this).rows >= kRows * (kWidth / kLanes);
        left_ -= count();
        tile_ = 0;
        fresh_ = false;
        if (++panel_ < panels_) return;
        panel_ = 0;
        fresh_ = true;
        first_ += size_;
        if (first_ == tiles_) first_ = 0, ++point_;
        begin_block();
    }

  private:
    static constexpr int kRows = tile_rows(Rows, Vectors);
    static constexpr i64 kWidth = kLanes * tile_vectors(Vectors);
    static constexpr i64 kLeastTiles = 8, kLineTiles = kTilesOfLines<kRows>;
    static constexpr i64 kLeastLines = 16;  // of a thread: its part is at most 1/16 too long

    void share_tiles(i64 points) {
        const Range mine = my_share(points * panels_ * tiles_);
        left_ = mine.end - mine.begin;
        if (left_ == 0) return;
        point_ = mine.begin / (panels_ * tiles_);
        const i64 inside = mine.begin % (panels_ * tiles_);
        first_ = inside / (panels_ * block_) * block_;
        begin_block();
        panel_ = (inside - first_ * panels_) / size_;
        tile_ = (inside - first_ * panels_) % size_;
    }
    void share_rows(i64 points) {
        const bool in_lines = kLanes % kRows != 0 && points == 1 &&
                              rows_ >= kLeastLines * kLanes * Team::part().count;
        if (in_lines) keep_rows(my_lanes(rows_));
        const Range mine = in_lines ? Range{0, tiles_} : my_share(points * tiles_);
        const i64 tiles = mine.end - mine.begin;
        if (tiles == 0) return;
        left_ = tiles * panels_;
        const i64 blocks = (tiles + block_ - 1) / block_;
        const i64 groups = (tiles + blocks * kLineTiles - 1) / (blocks * kLineTiles);
        block_ = groups * kLineTiles;
        point_ = mine.begin / tiles_;
        first_ = mine.begin % tiles_;
        begin_block();
    }
    /// No others: where rows are packed, no line of a is in those of two threads.
    void keep_rows(Range rows) {
        origin_ = rows.begin;
        rows_ = rows.end - rows.begin;
        tiles_ = (rows_ + kRows - 1) / kRows;
    }
    void begin_block() {
        size_ = tiles_ - first_ < block_ ? tiles_ - first_ : block_;
        if (by_rows_ && left_ < size_ * panels_) size_ = left_ / panels_;
    }
    i64 count() const {
        const i64 tiles = size_ - tile_;
        return left_ < tiles ? left_ : tiles;
    }

    i64 origin_ = 0;  // the first of the rows
    i64 rows_, columns_, panels_, tiles_, block_ = 0, left_ = 0;
    i64 point_ = 0, first_ = 0, size_ = 0;  // of the block: its first tile, and how many it has
    i64 panel_ = 0, tile_ = 0;
    bool by_rows_ = false;
    bool fresh_ = true, behind_long_ = false;
};

}  // namespace fovea::cpu::inline FOVEA_ISA
