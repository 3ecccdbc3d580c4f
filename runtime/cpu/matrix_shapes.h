// The shapes of the tiles that Intel AMX multiplies. Setting them takes as long as a hundred
// products, so they stay from kernel to kernel of a region.
#pragma once

#include "registers.h"

namespace fovea::cpu::inline FOVEA_ISA {

#if defined(__AMX_BF16__)

/// The tiles of a thread, inside of a region: given up at its end, because a processor that holds
/// some is slower to change threads. Elsewhere they stay until the thread ends.
class MatrixShapes {
  public:
    /// Nothing is known of what the thread did before.
    MatrixShapes() { first_ = second_ = 0; }
    ~MatrixShapes() {
        if (first_ > 0) _tile_release();
        first_ = second_ = 0;
    }
    MatrixShapes(const MatrixShapes&) = delete;
    MatrixShapes& operator=(const MatrixShapes&) = delete;

    /// From now on tiles 0, 1 and 4 have `first` rows, 2, 3 and 5 `second`, 6 and 7 have 16.
    static void set(int first, int second) {
        if (first == first_ && second == second_) return;
        first_ = first, second_ = second;
        struct alignas(64) Shapes {
            std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
            std::uint16_t bytes[16] = {};
            std::uint8_t rows[16] = {};
        } shapes;
        const int of_tiles[] = {first, first, second, second, first, second, 16, 16};
        for (int tile = 0; tile < 8; ++tile) {
            shapes.bytes[tile] = 64;
            shapes.rows[tile] = std::uint8_t(of_tiles[tile]);
        }
        // g++ 12's intrinsic says that it reads the first 8 bytes alone.
        asm volatile("ldtilecfg %0" : : "m"(shapes));
    }

  private:
    static inline thread_local int first_ = 0, second_ = 0;  // 0: nothing is set
};

#else

struct MatrixShapes {
    MatrixShapes() {}  // as if there were something to give up
};

#endif

}  // namespace fovea::cpu::inline FOVEA_ISA
