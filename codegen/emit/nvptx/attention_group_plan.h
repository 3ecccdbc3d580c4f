// Which kernels over tiles are attention that groups of warps compute (sm_90a): scores of queries
// and keys, weights made of them in any way, and the weights' sum of values. Operands lie in memory
// as bfloat16 and come to shared memory in boxes of tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/ptx_module.h"
#include "codegen/kernel/kernel.h"

namespace fovea::emit::nvptx {

struct AttentionGroupPlan {
    static constexpr int kGroups = 2;  // that compute; one more brings the operands
    static constexpr int kGroupRows = 64;  // of a product
    static constexpr int kStages = 2;  // of keys and of values
    static constexpr int kBoxColumns = 64;  // 128 bytes

    kernel::Kernel kernel;  // after the rewrites
    std::vector<kernel::AxisId> points;
    kernel::AxisId rows = -1;  // the `par` axis
    std::vector<kernel::Id> task;  // nodes inside of the loops around everything
    kernel::Id loop = -1;  // over tiles of keys
    kernel::Id scores = -1, output = -1;  // products: of queries and keys, of weights and values
    int carry = -1;  // of the loop, to which the second product is added

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
    Operand queries, keys, values;
    int tile_columns = 128;  // keys
    /// Whether all rows of a block see all tiles but the last whole, wherever they see any of it.
    bool masks_last_alone = false;

    static constexpr int tile_rows() { return kGroups * kGroupRows; }
    static constexpr int threads() { return (kGroups + 1) * 128; }
    int shared_bytes() const { return queries.bytes() + kStages * (keys.bytes() + values.bytes()); }
};

/// Throws TileRefusal.
AttentionGroupPlan plan_attention_group(const kernel::Kernel& kernel);

/// Why a kernel over tiles is none that groups of warps compute, as a clause: "it has …".
std::optional<std::string> why_not_attention_group(const kernel::Kernel& kernel);

}  // namespace fovea::emit::nvptx
