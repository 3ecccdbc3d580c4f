// How a contraction runs on a GPU, as data chosen from static sizes and strides: the tile of the
// product that a block computes, and how the tiles of its operands come into shared memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/nvptx/contraction/contraction_boxes.h"
#include "codegen/emit/ptx_module.h"
#include "codegen/kernel/kernel.h"
#include "codegen/target/gpu.h"

namespace fovea::emit::nvptx {

/// What the threads of a block make of the tile of the product that is theirs.
enum class ContractionForm {
    scalar,  // each thread 4 x 4 or 8 x 8 elements, float32
    matrix,  // each warp pieces of 16 x 8, mma.sync of halves or tf32
    group,   // each group of four warps 64 rows, wgmma of halves or tf32
    vector,  // no rows: the threads of a warp share the sum of one element, or each has a column
};

/// An operand's tile in shared memory: positions along `outer` (the rows or the columns of the
/// product) times positions along the contracted axes.
struct OperandPlan {
    kernel::Id load = -1;
    kernel::Id second = -1;  // of two products: what the later half of the tile's columns are of
    kernel::AxisId outer = -1;
    bool depth_inside = false;  // neighbours in shared memory differ in depth, else in `outer`
    bool depth_first = false;   // neighbouring threads copy what differs in depth
    int width = 1;              // elements that one thread copies at once, neighbours in both
    bool in_pairs = false;  // lies in panels of pairs along the depth: a thread exchanges the
    int across = 1;  // pairs of so many neighbours along `outer`, `width` of each
    bool asynchronous = false;  // by cp.async, as they lie in memory; else through registers
    std::optional<OperandBoxes> boxes = std::nullopt;  // where both operands are copied in boxes
    std::optional<OperandBoxes> second_boxes = std::nullopt;
};

/// What of the target and of the kernel's place matters.
struct ContractionSettings {
    bool aligned = true;  // buffers start at multiples of 16 bytes
    target::Gpu target{};
};

struct ContractionPlan {
    ContractionSettings settings;
    ContractionForm form = ContractionForm::scalar;
    std::vector<kernel::AxisId> points;  // each block has one position along these
    kernel::AxisId rows = -1, columns = -1;  // -1: the product has no such axis
    std::vector<kernel::AxisId> contracted;
    std::vector<kernel::Id> stores;  // in the order of the kernel
    kernel::Id contract = -1;
    kernel::Id before = -1;  // a product of the same a before it; -1: there is none
    kernel::Factors factors = kernel::Factors::f32;  // what is multiplied
    OperandPlan a, b;  // the one with the rows, and the one with the columns
    int tile_rows = 0, tile_columns = 0, tile_depth = 0, threads = 0;
    int stages = 0;  // tiles of each operand in shared memory
    bool overlaps = false;  // of wgmma: a product is under way while the next one is prepared
    LaunchRange taken = {};  // of rows, or of elements where both sizes are known at run time alone
    /// Of an element of an operand in shared memory.
    int element_bytes() const { return is_half(factors) ? 2 : 4; }
    /// Columns of each product in a tile: those of two are side by side, so that a is read once.
    int own_columns() const { return before < 0 ? tile_columns : tile_columns / 2; }
    /// Of wgmma: four warps of their own, behind `threads`, are there for the copies of boxes.
    bool copies_boxes() const { return a.boxes.has_value(); }
    int all_threads() const { return threads + (copies_boxes() ? 128 : 0); }
    /// Columns of `b` in shared memory: where they are neighbours there, wgmma reads them in rows
    /// of 128 bytes.
    int loaded_columns() const {
        const bool in_rows = form == ContractionForm::group && !b.depth_inside;
        return in_rows ? std::max(tile_columns, 128 / element_bytes()) : tile_columns;
    }
};

/// Why a kernel with a contraction is not one that `plan_contraction` takes, as a sentence; none
/// where it is.
std::optional<std::string> why_not_contraction(const kernel::Kernel& kernel);

/// Why a plan of the form `matrix`, whose operands and tile are chosen, is not one of wgmma, as
/// part of a sentence; none where it can be.
std::optional<std::string> why_not_group(const kernel::Kernel& kernel, const ContractionPlan& plan);

/// The plan of a kernel that `why_not_contraction` finds nothing against, for many rows where their
/// number is known only at run time. UserError where the schedule cannot be kept.
ContractionPlan plan_contraction(const kernel::Kernel& kernel, const ContractionSettings& settings);

/// The same, and before it the plans for fewer rows, whose tiles are smaller, so that more blocks
/// share the work: the last one takes all numbers of rows that those before it do not. All add in
/// one order by the same instructions: the bits of a row do not depend on the others.
std::vector<ContractionPlan> plan_contractions(const kernel::Kernel& kernel,
                                               const ContractionSettings& settings);

/// `64 x 64 x 16, 256 threads, 3 stages; a: depth inside, 8 at once; b: …`
std::string print(const kernel::Kernel& kernel, const ContractionPlan& plan);

}  // namespace fovea::emit::nvptx
