// The fields of how kernels are written for GPUs.
#include "codegen/target/fields.h"

namespace fovea::target {

namespace {

std::vector<Field<Gpu>> common_fields_of_gpus() {
    return {field<&Gpu::blocks>("blocks", between(1, 4096), "about the number of multiprocessors"),
            field<&Gpu::cached_bytes>("cached_bytes", between(1024, 1 << 30),
                                      "of the second cache that blocks share")};
}

std::vector<Field<Gpu>> row_fields_of_gpus() {
    return {
        field<&Gpu::rows, &GpuRows::threads>("rows.threads", powers(32, 512), "of a block"),
        field<&Gpu::rows, &GpuRows::sum_threads>("rows.sum_threads", powers(32, 1024),
                                                 "of one that sums over rows of any length"),
        field<&Gpu::rows, &GpuRows::long_row_threads>("rows.long_row_threads", powers(32, 1024),
                                                      "for a row of a length not static"),
        field<&Gpu::rows, &GpuRows::long_column>(
            "rows.long_column", between(1, 1e6),
            "positions along a column that several threads share"),
        field<&Gpu::rows, &GpuRows::kept>("rows.kept", between(1, 64),
                                          "elements of a row that a thread keeps"),
        field<&Gpu::rows, &GpuRows::shared_floats>("rows.shared_floats", between(0, 10240),
                                                   "of sums over rows in shared memory"),
        field<&Gpu::rows, &GpuRows::strip>("rows.strip", powers(1, 4),
                                           "columns of a thread whose rows are summed"),
        field<&Gpu::scatter, &GpuScatter::threads>("scatter.threads", powers(32, 1024),
                                                   "of a block at most, for wide rows"),
        field<&Gpu::scatter, &GpuScatter::looks>(
            "scatter.looks", between(1, 16), "ids that a thread looks at before rows are added"),
        field<&Gpu::scatter, &GpuScatter::rows>("scatter.rows", between(1, 64),
                                                "of the table, for a block"),
        field<&Gpu::transpose, &GpuTranspose::threads>("transpose.threads", powers(32, 1024),
                                                       "of a block")};
}

std::vector<Field<Gpu>> contraction_fields_of_gpus() {
    return {
        field<&Gpu::contraction, &GpuContraction::tile>("contraction.tile", powers(32, 64),
                                                        "rows and columns of a block"),
        field<&Gpu::contraction, &GpuContraction::large>(
            "contraction.large", between(1, 1e9), "rows and columns from which on they are 128"),
        field<&Gpu::contraction, &GpuContraction::very_large>(
            "contraction.very_large", between(1, 1e9), "columns from which on wgmma takes 256"),
        field<&Gpu::contraction, &GpuContraction::short_run>(
            "contraction.short_run", between(1, 1024),
            "elements that neighbouring threads read across"),
        field<&Gpu::contraction, &GpuContraction::depth>("contraction.depth", powers(16, 64),
                                                         "of a tile of float32"),
        field<&Gpu::contraction, &GpuContraction::depth_bytes>(
            "contraction.depth_bytes", powers(64, 128), "along the depth of a tile for mma.sync"),
        field<&Gpu::contraction, &GpuContraction::stages>("contraction.stages", between(2, 6),
                                                          "tiles of an operand in shared memory"),
        field<&Gpu::contraction, &GpuContraction::group_stages>("contraction.group_stages",
                                                                between(2, 6), "of them for wgmma"),
        field<&Gpu::contraction, &GpuContraction::ring_stages>(
            "contraction.ring_stages", between(3, 6), "of them for wgmma, copied in boxes"),
        field<&Gpu::contraction, &GpuContraction::few_rows>("contraction.few_rows", between(0, 1e9),
                                                            "for which blocks compute 16 columns"),
        field<&Gpu::contraction, &GpuContraction::narrow_stages>(
            "contraction.narrow_stages", between(1, 4), "times as many stages as these have"),
        field<&Gpu::contraction, &GpuContraction::rows_together>(
            "contraction.rows_together", between(1, 64),
            "tiles of rows that neighbouring blocks go down"),
        field<&Gpu::contraction, &GpuContraction::many_sums>(
            "contraction.many_sums", between(1, 1e9),
            "of a thread from which on registers are shared out"),
        field<&Gpu::contraction, &GpuContraction::copying_registers>(
            "contraction.copying_registers", multiples(8, 24, 80), "of a thread that copies"),
        field<&Gpu::contraction, &GpuContraction::multiplying_registers>(
            "contraction.multiplying_registers", multiples(8, 168, 240),
            "of a thread that multiplies"),
        field<&Gpu::contraction, &GpuContraction::vector_warps>(
            "contraction.vector_warps", powers(1, 32),
            "columns of a block where there are no rows"),
        field<&Gpu::contraction, &GpuContraction::column_warps>(
            "contraction.column_warps", powers(1, 32),
            "that share columns where there are no rows")};
}

std::vector<Field<Gpu>> tile_fields_of_gpus() {
    return {
        field<&Gpu::tiles, &GpuTiles::length>("tiles.length", powers(8, 64),
                                              "positions of a tile of float32"),
        field<&Gpu::tiles, &GpuTiles::threads>("tiles.threads", powers(32, 512), "of a block"),
        field<&Gpu::tiles, &GpuTiles::row_threads>("tiles.row_threads", powers(1, 32),
                                                   "neighbours along a row"),
        field<&Gpu::tiles, &GpuTiles::piece>("tiles.piece", powers(1, 8),
                                             "rows, and columns, of a thread"),
        field<&Gpu::tiles, &GpuTiles::shared_bytes>("tiles.shared_bytes", between(16384, 101376),
                                                    "of a block"),
        field<&Gpu::matrices, &GpuMatrices::columns>("matrices.columns", powers(16, 128),
                                                     "positions of a tile for mma.sync"),
        field<&Gpu::matrices, &GpuMatrices::crowded_columns>(
            "matrices.crowded_columns", powers(16, 128),
            "where more than two products are at work"),
        field<&Gpu::matrices, &GpuMatrices::warps>("matrices.warps", powers(1, 8),
                                                   "of a block, of 16 rows each"),
        field<&Gpu::matrices, &GpuMatrices::shared_bytes>("matrices.shared_bytes",
                                                          between(16384, 166912), "of a block"),
        field<&Gpu::matrices, &GpuMatrices::registers>("matrices.registers", between(64, 250),
                                                       "of a thread, for tiles"),
        field<&Gpu::matrices, &GpuMatrices::kept_registers>(
            "matrices.kept_registers", between(64, 250), "of a thread, for tiles and operands"),
        field<&Gpu::groups, &GpuGroups::columns>("groups.columns", powers(32, 128),
                                                 "positions of a tile for wgmma"),
        field<&Gpu::groups, &GpuGroups::shared_bytes>("groups.shared_bytes", between(16384, 229376),
                                                      "of a block"),
        field<&Gpu::groups, &GpuGroups::registers>("groups.registers", between(64, 240),
                                                   "of a thread, for tiles"),
        field<&Gpu::groups, &GpuGroups::ahead_registers>("groups.ahead_registers", between(64, 240),
                                                         "and with what is read ahead"),
        field<&Gpu::groups, &GpuGroups::bringing_registers>(
            "groups.bringing_registers", multiples(8, 24, 40), "of a thread that brings operands"),
        field<&Gpu::groups, &GpuGroups::computing_registers>(
            "groups.computing_registers", multiples(8, 168, 240), "of a thread that computes")};
}

}  // namespace

const std::vector<Field<Gpu>>& gpu_fields() {
    static const std::vector<Field<Gpu>> fields = [] {
        std::vector<Field<Gpu>> all;
        for (const auto& part : {common_fields_of_gpus(), row_fields_of_gpus(),
                                 contraction_fields_of_gpus(), tile_fields_of_gpus()})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }();
    return fields;
}

}  // namespace fovea::target
