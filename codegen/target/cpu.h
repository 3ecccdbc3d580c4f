// How kernels are written for CPUs. One text serves all instruction sets of a program, whose
// vectors have as many lanes: so they share one description.
#pragma once

#include "codegen/target/lowering.h"

namespace fovea::target {

/// Products: register tiles of rows x vectors sums.
struct CpuContraction {
    int rows = 8;
    int wide = 256;          // from so many columns on, of b as it lies in memory,
    int wide_rows = 6;       // tiles have so many rows
    int wide_vectors = 4;    // and vectors: all of a is read again for each panel
    int small_floats = 64 * 1024;  // of b: up to so many, threads share the rows
};

/// Loops over tiles: a tile of scores and what it is made from stay in the first caches.
struct CpuTiles {
    int length = 64;  // positions of a tile
    /// Where no axis has more positions, a second form of the kernel without loops. Vectors that
    /// are summed over should be no longer than one of lanes: the sums' own instructions would be
    /// most of the work.
    int small_length = 16;
    int rows_of_one = 12;  // of the register tile of sums one vector wide
    int rows_of_two = 12;
    int rows_of_three = 8;
    int rows_of_four = 6;  // and of wider ones, four vectors at a time
    int rows_of_five = 4;
    int rows_of_terms = 4;  // of sums whose terms take many instructions
    int vectors_of_terms = 1;
    /// Floats after each row of a tile in memory. Rows and arrays then differ in their offset
    /// within a page, which avoids 4 KB aliasing (loads that wait for unrelated stores).
    int row_padding = 16;
    int widest = 512;  // elements of an axis that is not cut
};

struct CpuRows {
    int short_row = 256;  // elements: up to so many, rows are taken four at a time
    int largest_array = 1024;  // floats of a row that are kept on the stack
};

/// What a kernel costs the C++ compiler, in the unit of its text's length: sources are cut into
/// parts that take about as long.
struct CpuCompilation {
    int tiles = 3300;  // of loops over tiles, length * length / this
    int contraction = 2000;  // of the call of a product, beside its text
    int programs = 6;  // of calls one after the other, length / this
};

/// Small programs that give gradients run in shards of the batch, a thread a shard: threads then
/// wait for each other a few times in a step, not after most kernels.
struct CpuShards {
    int count = 8;  // at most 16; 1: programs are not cut
    int most_floats = 1024 * 1024;  // of gradients: each shard writes its own, then they are added
    int row_blocks = 4;  // that a sum over a shard's rows is cut into
};

/// What programs prepare of one parameter alone is in memory once for all of them.
struct CpuSharing {
    int least_bytes = 64 * 1024;  // of a tensor that is worth a lock
};

struct Cpu {
    CpuContraction contraction{};
    CpuTiles tiles{};
    CpuRows rows{};
    CpuShards shards{};
    CpuCompilation compilation{};
    CpuSharing sharing{};
};

}  // namespace fovea::target
