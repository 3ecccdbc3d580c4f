// How kernels are written for one architecture of GPUs.
#pragma once

#include <string>

namespace fovea::target {

/// Maps, reductions and sums over rows.
struct GpuRows {
    int threads = 256;           // of a block
    int sum_threads = 1024;      // of one that sums over rows of a length that is not static
    int long_row_threads = 128;  // for a row whose length is not static
    int long_column = 32;        // positions along a column that several threads share
    int kept = 16;               // elements of a row that one thread keeps in registers
    int shared_floats = 10240;   // of sums over rows in shared memory
    int strip = 4;               // columns of a thread whose rows are summed
};

struct GpuScatter {
    int threads = 512;  // of a block at most, where a row has so many columns
    int looks = 4;      // ids that a thread looks at before the found rows are added
    int rows = 4;       // of the table, for a block
};

struct GpuTranspose {
    int threads = 256;
};

/// Products of operands in memory.
struct GpuContraction {
    int tile = 64;  // rows and columns of a block's tile
    int large = 512;        // from so many columns and rows on, 128 x 128
    int very_large = 2048;  // from so many columns on, 128 x 256 by wgmma
    int short_run = 8;  // elements: shorter runs are read by neighbouring threads across them
    int depth = 16;         // of a tile of float32
    int depth_bytes = 64;   // of a tile for mma.sync
    int stages = 4;         // tiles of each operand in shared memory
    int group_stages = 3;   // for wgmma
    int ring_stages = 4;    // for wgmma, of copies of boxes
    int few_rows = 64;      // up to so many, a block computes few columns
    int narrow_stages = 2;  // and has so many times as many stages, since little is in each
    int rows_together = 8;  // tiles of rows that neighbouring blocks go down
    int many_sums = 128;    // of a thread: from so many on, registers are shared out anew:
    int copying_registers = 40;       // to a thread that copies
    int multiplying_registers = 232;  // and to one that multiplies
    int vector_warps = 4;  // of a product without rows: a warp for each column
    int column_warps = 8;  // that share the columns of one
};

/// Loops over tiles in float32.
struct GpuTiles {
    int length = 32;  // positions of a tile, fewer where shared memory is short
    int threads = 128;
    int row_threads = 16;  // neighbours along a row
    int piece = 4;         // rows, and columns, of a thread
    int shared_bytes = 99 * 1024;  // that a block may have where the host asks for it
};

/// Loops over tiles with products of matrices by warps (mma.sync).
struct GpuMatrices {
    int columns = 64;          // positions of a tile, fewer where registers are short
    int crowded_columns = 32;  // where more than two products are at work
    int warps = 4;
    int shared_bytes = 80 * 1024;  // of a block: two fit a multiprocessor
    int registers = 150;  // of a thread that tiles may take; addresses and the rest take others
    int kept_registers = 160;  // that they may with operands
};

/// Attention by groups of four warps (wgmma).
struct GpuGroups {
    int columns = 128;  // positions of a tile, fewer where registers are short
    int shared_bytes = 224 * 1024;
    int registers = 216;  // of a thread that tiles may take
    int ahead_registers = 224;  // and with what is read ahead, while nothing is computed
    int bringing_registers = 24;  // that a thread which brings operands keeps
    int computing_registers = 240;  // that one which computes has
};

struct Gpu {
    std::string architecture;  // sm_80, sm_90, sm_90a
    bool wgmma = false;  // products of groups of warps, and copies of tensors
    int most_shared_bytes = 0;  // that a block can have
    int blocks = 128;  // about the number of multiprocessors
    int cached_bytes = 16 << 20;  // of the second cache, in which blocks share what they read
    GpuRows rows{};
    GpuScatter scatter{};
    GpuTranspose transpose{};
    GpuContraction contraction{};
    GpuTiles tiles{};
    GpuMatrices matrices{};
    GpuGroups groups{};
};

}  // namespace fovea::target
