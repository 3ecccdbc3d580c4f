// The fields of how kernels are written for CPUs.
#include "codegen/target/fields.h"

namespace fovea::target {

namespace {

using Products = CpuContraction;
using Tiles = CpuTiles;
using Rows = CpuRows;
using Shards = CpuShards;
using Compilation = CpuCompilation;
using Sharing = CpuSharing;

std::vector<Field<Cpu>> contraction_fields() {
    return {field<&Cpu::contraction, &Products::rows>("contraction.rows", between(2, 8),
                                                      "of a register tile"),
            field<&Cpu::contraction, &Products::wide>("contraction.wide", between(1, 1e9),
                                                      "columns from which on a product is wide"),
            field<&Cpu::contraction, &Products::wide_rows>("contraction.wide_rows", between(2, 8),
                                                           "of a register tile of a wide product"),
            field<&Cpu::contraction, &Products::wide_vectors>(
                "contraction.wide_vectors", between(1, 4), "of 16 columns, of its register tile"),
            field<&Cpu::contraction, &Products::small_floats>(
                "contraction.small_floats", between(0, 1e9),
                "of an operand that threads do not share")};
}

std::vector<Field<Cpu>> tile_fields() {
    return {field<&Cpu::tiles, &Tiles::length>("tiles.length", multiples(kLanes, 16, 256),
                                               "positions of a tile"),
            field<&Cpu::tiles, &Tiles::small_length>(
                "tiles.small_length", multiples(kLanes, 16, 64), "of the form for short axes"),
            field<&Cpu::tiles, &Tiles::rows_of_one>("tiles.rows_of_one", between(1, 12),
                                                    "of register tiles one vector wide"),
            field<&Cpu::tiles, &Tiles::rows_of_two>("tiles.rows_of_two", between(1, 12),
                                                    "of those two vectors wide"),
            field<&Cpu::tiles, &Tiles::rows_of_three>("tiles.rows_of_three", between(1, 12),
                                                      "of those three vectors wide"),
            field<&Cpu::tiles, &Tiles::rows_of_four>("tiles.rows_of_four", between(1, 12),
                                                     "of those four vectors wide"),
            field<&Cpu::tiles, &Tiles::rows_of_five>("tiles.rows_of_five", between(1, 12),
                                                     "of those five vectors wide"),
            field<&Cpu::tiles, &Tiles::rows_of_terms>("tiles.rows_of_terms", between(1, 8),
                                                      "of sums of long terms"),
            field<&Cpu::tiles, &Tiles::vectors_of_terms>("tiles.vectors_of_terms", between(1, 4),
                                                         "of sums of long terms"),
            field<&Cpu::tiles, &Tiles::row_padding>("tiles.row_padding", multiples(kLanes, 0, 64),
                                                    "floats after each row of a tile"),
            field<&Cpu::tiles, &Tiles::widest>("tiles.widest", between(16, 4096),
                                               "elements of an axis that is not cut")};
}

std::vector<Field<Cpu>> other_fields() {
    return {field<&Cpu::rows, &Rows::short_row>("rows.short_row", between(0, 1e9),
                                                "elements of rows that are taken four at a time"),
            field<&Cpu::rows, &Rows::largest_array>("rows.largest_array", between(0, 65536),
                                                    "floats of a row kept on the stack"),
            field<&Cpu::shards, &Shards::count>("shards.count", between(1, 16),
                                                "of the batch of a small program; 1: none"),
            field<&Cpu::shards, &Shards::most_floats>("shards.most_floats", between(0, 1e9),
                                                      "of gradients of a program in shards"),
            field<&Cpu::shards, &Shards::row_blocks>(
                "shards.row_blocks", between(1, 1024),
                "that a sum over rows is cut into, in such a program"),
            field<&Cpu::compilation, &Compilation::tiles>(
                "compilation.tiles", between(1, 1e6),
                "characters of loops over tiles, whose cost grows with their square"),
            field<&Cpu::compilation, &Compilation::contraction>(
                "compilation.contraction", between(0, 1e6), "characters that a product costs"),
            field<&Cpu::compilation, &Compilation::programs>(
                "compilation.programs", between(1, 1e6), "characters of calls that cost one"),
            field<&Cpu::sharing, &Sharing::least_bytes>(
                "sharing.least_bytes", between(0, 1e9),
                "of what programs prepare of a parameter and share")};
}

}  // namespace

const std::vector<Field<Cpu>>& cpu_fields() {
    static const std::vector<Field<Cpu>> fields = [] {
        std::vector<Field<Cpu>> all;
        for (const auto& part : {contraction_fields(), tile_fields(), other_fields()})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }();
    return fields;
}

}  // namespace fovea::target
