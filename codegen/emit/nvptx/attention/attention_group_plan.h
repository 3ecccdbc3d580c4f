// Which kernels over tiles are attention that groups of warps compute (sm_90a), forward or
// backward: scores, products of rows of the block and rows of a tile, both from memory; weights
// made of them in any way; and sums over the tiles, of weights and rows of a tile. Operands lie in
// memory as halves and come to shared memory in boxes of tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/ptx_module.h"
#include "codegen/kernel/kernel.h"
#include "codegen/target/gpu.h"

namespace fovea::emit::nvptx {

struct AttentionGroupPlan {
    static constexpr int kGroups = 2;  // that compute; one more brings the operands
    static constexpr int kGroupRows = 64;  // of a product
    static constexpr int kStages = 2;  // of the operands that move, in two phases of barriers
    static constexpr int kBoxColumns = 64;  // 128 bytes

    kernel::Kernel kernel;  // after the rewrites
    std::vector<kernel::AxisId> points;
    kernel::AxisId rows = -1;  // the `par` axis
    std::vector<kernel::Id> task;  // nodes inside of the loops around everything
    kernel::Id loop = -1;  // over tiles
    DType half = DType::bf16;  // of the operands

    /// A loaded operand: the map of its tensor, whose axes are its columns, its rows, and points.
    struct Operand {
        kernel::Id load = -1;
        TensorMap map;
        std::vector<kernel::AxisId> axes;
        int rows = 0, columns = 0;  // of a tile

        int boxes() const { return columns / kBoxColumns; }
        int box_bytes() const { return rows * kBoxColumns * 2; }
        int bytes() const { return boxes() * box_bytes(); }
    };
    std::vector<Operand> fixed;  // rows of the block: queries, in the forward pass
    std::vector<Operand> moving;  // rows of each tile: keys and values

    /// A product of a fixed operand and a moving one.
    struct Score {
        kernel::Id product = -1;
        std::size_t fixed = 0, moving = 0;  // numbers
    };
    std::vector<Score> scores;
    /// The product of weights and a moving operand, summed over the tiles.
    struct Sum {
        kernel::Id product = -1, weights = -1;
        std::size_t moving = 0;
        std::size_t carry = 0;  // of the loop
        std::size_t scores = 0;  // so many of them, the first ones, are needed for the weights
    };
    std::vector<Sum> sums;  // by the number of scores

    target::Gpu target;
    int tile_columns = 0;  // positions of a tile
    /// Whether the loop carries nothing but sums to which products alone are added, as gradients
    /// are; else one sum is scaled from tile to tile, by what weights have been found so far.
    bool only_adds = false;
    /// Whether all rows of a block see all tiles but the last whole, wherever they see any of it.
    bool masks_last_alone = false;
    /// Whether what is loaded for each position of a tile is read before its scores are there.
    bool reads_ahead = false;
    /// Whether rows of a tile may be in memory past the end of the loop.
    bool has_padding = true;

    static constexpr int tile_rows() { return kGroups * kGroupRows; }
    static constexpr int threads() { return (kGroups + 1) * 128; }
    /// Bytes of all operands: the fixed ones, then the stages of each moving one.
    int shared_bytes() const;
};

/// Throws kernel::TileRefusal; UserError where registers are promised that there are not.
AttentionGroupPlan plan_attention_group(const kernel::Kernel& kernel, const target::Gpu& target);

/// Why a kernel over tiles is none that groups of warps compute, as a clause: "it has …".
std::optional<std::string> why_not_attention_group(const kernel::Kernel& kernel,
                                                   const target::Gpu& target);

}  // namespace fovea::emit::nvptx
