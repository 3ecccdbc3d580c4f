// Loops over tiles are those of all threads of a block together.
#include "codegen/emit/nvptx/tiles/tile_kernel.h"

#include <llvm/IR/Intrinsics.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/attention/attention_group.h"
#include "codegen/emit/nvptx/block_order.h"
#include "codegen/emit/nvptx/grid.h"
#include "codegen/emit/nvptx/tiles/tile_elements.h"
#include "codegen/emit/nvptx/tiles/tile_matrix_kernel.h"
#include "codegen/emit/nvptx/tiles/tile_plan.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

class TileKernel {
  public:
    TileKernel(const TilePlan& plan, Function& function)
        : plan_(plan), f_(function), elements_(plan, function) {}

    void run() {
        find_block();
        write(-1);
        f_.finish();
    }

  private:
    /// The point and the tile of this block.
    void find_block() {
        if (plan_.par < 0) {
            set_positions(f_, plan_.points, f_.block());
            return;
        }
        const int tile = plan_.tiles.at(plan_.par);
        Value* first = place_block(f_, {plan_.par, tile, plan_.points, plan_.target.cached_bytes});
        set_tile(plan_.par, first, f_.extent(plan_.par));
    }

    /// The tile from `first` on, of positions below `end`.
    void set_tile(AxisId axis, Value* first, Value* end) {
        llvm::IRBuilder<>& ir = f_.ir();
        Value* count = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, ir.CreateNSWSub(end, first),
                                                f_.number(plan_.tiles.at(axis)));
        elements_.set_tile(axis, first, ir.CreateTrunc(count, ir.getInt32Ty()));
    }

    void write(Id block) {
        for (const TileStep& step : plan_.blocks.at(block)) {
            if (step.waits) f_.barrier();
            if (step.kind == TileStep::Kind::loop) write_loop(step.node);
            else elements_.write(step);
        }
    }

    void write_loop(Id id) {
        llvm::IRBuilder<>& ir = f_.ir();
        const Loop& loop = *as<Loop>(plan_.kernel, id);
        Value* tile = f_.number(plan_.tiles.at(loop.axis));
        Value *first = f_.number(0), *end = f_.extent(loop.axis);
        if (loop.lower >= 0) {
            Value* from = elements_.range_of(loop.lower).smallest;
            first = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, from);
            first = ir.CreateNSWMul(ir.CreateUDiv(first, tile), tile);
        }
        if (loop.upper >= 0)
            end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end,
                                           elements_.range_of(loop.upper).largest);
        f_.loop(first, end, tile, [&](Value* at) {
            set_tile(loop.axis, at, end);
            write(id);
        });
    }

    const TilePlan& plan_;
    Function& f_;
    TileElements elements_;
};

}  // namespace

std::optional<std::string> why_not_tile_kernel(const Kernel& kernel, const target::Gpu& target) {
    try {
        plan_tiles(kernel, target);
    } catch (const TileRefusal& refusal) {
        return "it has " + refusal.reason;
    }
    return std::nullopt;
}

void prepare_tile_function(Function& function) {
    llvm::Function& entry = function.llvm_function();
    llvm::LLVMContext& context = entry.getContext();
    llvm::Type* type = llvm::Type::getInt32Ty(context);
    // Otherwise ptxas spills some registers, for more blocks at a time.
    llvm::Metadata* operands[] = {llvm::ValueAsMetadata::get(&entry),
                                  llvm::MDString::get(context, "minctasm"),
                                  llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(type, 1))};
    entry.getParent()
        ->getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(context, operands));
    // Scores that are computed again must be the same bits: their differences from the largest
    // are exponents.
    function.ir().setFastMathFlags({});
}

namespace {

/// Why groups of warps do not compute a kernel that is written for this target.
std::optional<std::string> why_not_groups(const Kernel& kernel, const target::Gpu& target,
                                          bool aligned) {
    if (!target.wgmma) return target.architecture + " has no such products";
    if (!aligned) return "it is given buffers that start anywhere";
    return why_not_attention_group(kernel, target);
}

PtxLaunch write_launch(llvm::Module& module, const Kernel& kernel, const std::string& entry,
                       const target::Gpu& target, bool aligned) {
    const std::optional<std::string> no_groups = why_not_groups(kernel, target, aligned);
    if (!no_groups) {
        PtxLaunch launch =
            write_attention_group(module, plan_attention_group(kernel, target), entry);
        launch.form = "products by groups of warps (wgmma)";
        return launch;
    }
    std::string no_matrices;
    try {
        PtxLaunch launch = write_tile_matrices(module, plan_tile_matrices(kernel, target), entry);
        launch.form = "products by warps (mma.sync), not by groups of them (wgmma): " + *no_groups;
        return launch;
    } catch (const TileRefusal& refusal) {
        no_matrices = refusal.reason;
    }
    TilePlan plan;
    try {
        plan = plan_tiles(kernel, target);
    } catch (const TileRefusal& refusal) {
        throw InternalError("kernel " + kernel.name + " has " + refusal.reason);
    }
    Function function(module, plan.kernel, entry, plan.target.tiles.threads);
    prepare_tile_function(function);
    TileKernel(plan, function).run();

    PtxLaunch launch{.entry = entry, .grid = {}, .threads = plan.target.tiles.threads};
    for (AxisId axis : plan.points)
        launch.grid.push_back({plan.kernel.axes[std::size_t(axis)].extent, 1});
    if (plan.par >= 0)
        launch.grid.push_back(
            {plan.kernel.axes[std::size_t(plan.par)].extent, plan.tiles.at(plan.par)});
    launch.shared_bytes = plan.dynamic_bytes();
    launch.form = "products by threads, in float32, not by warps (mma.sync): it has " + no_matrices;
    return launch;
}

}  // namespace

PtxKernel write_tile_kernel(llvm::Module& module, const Kernel& kernel, const std::string& entry,
                            const target::Gpu& target, bool aligned) {
    return {kernel.name, {write_launch(module, kernel, entry, target, aligned)}, {}};
}

}  // namespace fovea::emit::nvptx
