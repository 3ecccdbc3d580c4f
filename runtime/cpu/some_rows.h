// Several products of the same rows and columns, some rows at a time: the sums
// of the first ones stay in a cache until the last one's epilogue reads them.
#pragma once

#include "contract.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Tiles of rows that are computed of each product before the next: more of narrow ones, whose
/// panels may be expanded for them (quantized/panel_products.h).
template <int Vectors>
inline constexpr int kTilesAtATime = Vectors == 1 ? 32 : 8;

/// A panel's rows, those of kTilesAtATime tiles after the other. Nothing is packed for other
/// panels: each product would pack the same memory.
template <int Rows, int Vectors>
class SomeRows {
  public:
    explicit SomeRows(const Panel& panel) : part_(panel), end_(panel.row + panel.rows) {
        part_.fresh = true;
        part_.reused = part_.behind_long = false;
        begin_part();
    }

    struct End {};
    SomeRows& begin() { return *this; }
    End end() const { return {}; }
    bool operator!=(End) const { return part_.rows > 0; }
    Panel operator*() const { return part_; }
    void operator++() {
        part_.row += part_.rows;
        begin_part();
    }

  private:
    void begin_part() {
        constexpr i64 kRows = i64(kTilesAtATime<Vectors>) * tile_rows(Rows, Vectors);
        part_.rows = end_ - part_.row < kRows ? end_ - part_.row : kRows;
        part_.block_row = part_.row;
        part_.block_rows = part_.rows;
    }

    Panel part_;
    i64 end_;
};

/// The sums of such rows, and the `finish` that keeps them.
template <int Rows, int Vectors>
class KeptSums {
  public:
    explicit KeptSums(const Panel& part) : row_(part.row), column_(part.column) {}

    FOVEA_INLINE void operator()(i64 i, i64 j, Lanes /*lanes*/, floats sum) const {
        store(place(i, j), sum);
    }
    FOVEA_INLINE floats at(i64 i, i64 j) const { return load(place(i, j)); }

  private:
    static constexpr i64 kWidth = kLanes * tile_vectors(Vectors);
    FOVEA_INLINE float* place(i64 i, i64 j) const {
        return sums_ + (i - row_) * kWidth + (j - column_);
    }

    i64 row_, column_;
    alignas(64) mutable float sums_[kTilesAtATime<Vectors> * tile_rows(Rows, Vectors) * kWidth];
};

} // namespace fovea::cpu::inline FOVEA_ISA
