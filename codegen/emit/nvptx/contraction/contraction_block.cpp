// Positions of a block, and the epilogue of one element.
#include "codegen/emit/nvptx/contraction/contraction_block.h"
#include "codegen/emit/nvptx/contraction/operand_plan.h"
#include "codegen/emit/nvptx/halves.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::BasicBlock;
using llvm::Value;

namespace {

constexpr unsigned kSharedSpace = 3;

/// Stores `values[i][number]` as neighbours of 16 bits in one piece, if they are that.
bool store_halves(const ContractionBlock& block, const Access& access,
                  const std::vector<Values>& values, std::size_t number, Value* first_column) {
    Function& f = block.f;
    llvm::IRBuilder<>& ir = f.ir();
    const int count = int(values.size());
    const DType half = f.kernel().buffers[std::size_t(access.buffer)].dtype;
    if (!is_half(half) || count % 2 != 0 || !block.plan.settings.aligned ||
        !lies_in_groups(f.kernel(), access, block.plan.columns, count))
        return false;
    Value* all =
        llvm::UndefValue::get(llvm::FixedVectorType::get(ir.getInt32Ty(), unsigned(count / 2)));
    for (std::size_t i = 0; i < values.size(); i += 2) {
        Value* pair = pair_of(ir, half, values[i][number], values[i + 1][number]);
        all = ir.CreateInsertElement(all, pair, std::uint64_t(i / 2));
    }
    f.set_position(block.plan.columns, first_column);
    ir.CreateAlignedStore(all, f.address(access), llvm::Align(std::uint64_t(count) * 2));
    return true;
}

}  // namespace

ContractionBlock enter_block(Function& f, const ContractionPlan& plan, int tile_rows,
                             int tile_columns) {
    ContractionBlock block{.f = f, .plan = plan};
    llvm::IRBuilder<>& ir = f.ir();
    Value* rest = f.block();
    const auto take = [&](Value* count) {
        Value* at = ir.CreateURem(rest, count);
        rest = ir.CreateUDiv(rest, count);
        return at;
    };
    const auto tiles = [&](AxisId axis, int tile) {
        return ir.CreateUDiv(ir.CreateAdd(f.extent(axis), f.number(tile - 1)), f.number(tile));
    };
    if (plan.rows >= 0) {
        Value *rows = tiles(plan.rows, tile_rows), *columns = tiles(plan.columns, tile_columns);
        Value* at = take(ir.CreateMul(rows, columns));
        const int together = plan.settings.target.contraction.rows_together;
        Value* in_group = ir.CreateMul(columns, f.number(together));
        Value* first = ir.CreateMul(ir.CreateUDiv(at, in_group), f.number(together));
        at = ir.CreateURem(at, in_group);
        Value* size = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, ir.CreateSub(rows, first),
                                               f.number(together));
        Value* row = ir.CreateAdd(first, ir.CreateURem(at, size));
        block.first_row = ir.CreateMul(row, f.number(tile_rows), "first_row");
        block.first_column =
            ir.CreateMul(ir.CreateUDiv(at, size), f.number(tile_columns), "first_column");
        block.first_loaded_column = block.first_column;
        if (const int loaded = plan.loaded_columns(); plan.before < 0 && loaded > tile_columns)
            block.first_loaded_column = ir.CreateSub(
                block.first_column, ir.CreateURem(block.first_column, f.number(loaded)));
    } else if (plan.columns >= 0) {
        Value* column = take(tiles(plan.columns, tile_columns));
        block.first_column = ir.CreateMul(column, f.number(tile_columns), "first_column");
    }
    for (std::size_t i = plan.points.size(); i-- > 0;)
        f.set_position(plan.points[i], take(f.extent(plan.points[i])));
    block.depth = f.number(1);
    for (AxisId axis : plan.contracted) block.depth = ir.CreateMul(block.depth, f.extent(axis));
    return block;
}

void set_depth(const ContractionBlock& block, Value* at) {
    Function& f = block.f;
    const std::vector<AxisId>& axes = block.plan.contracted;
    for (std::size_t i = axes.size(); i-- > 1;) {
        f.set_position(axes[i], f.ir().CreateURem(at, f.extent(axes[i])));
        at = f.ir().CreateUDiv(at, f.extent(axes[i]));
    }
    f.set_position(axes[0], at);
}

Values values_when(Function& f, Value* condition, const std::function<Values()>& body) {
    llvm::IRBuilder<>& ir = f.ir();
    BasicBlock* before = ir.GetInsertBlock();
    BasicBlock* inside = BasicBlock::Create(ir.getContext(), "loads", &f.llvm_function());
    BasicBlock* after = BasicBlock::Create(ir.getContext(), "loaded", &f.llvm_function());
    ir.CreateCondBr(condition, inside, after);
    ir.SetInsertPoint(inside);
    Values values;
    f.scope([&] { values = body(); });
    BasicBlock* end = ir.GetInsertBlock();
    ir.CreateBr(after);
    ir.SetInsertPoint(after);
    for (Value*& value : values) {
        llvm::PHINode* either = ir.CreatePHI(value->getType(), 2);
        either->addIncoming(value, end);
        either->addIncoming(llvm::Constant::getNullValue(value->getType()), before);
        value = either;
    }
    return values;
}

Value* dynamic_shared(llvm::Module& module) {
    constexpr const char* kName = "dynamic_shared";
    if (auto* known = module.getNamedGlobal(kName)) return known;
    auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
    auto* memory =
        new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                 kName, nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    memory->setAlignment(llvm::Align(1024));  // swizzles are of addresses
    return memory;
}

Value* at_byte(Function& f, Value* base, Value* bytes) {
    return f.ir().CreateGEP(f.ir().getInt8Ty(), base, bytes);
}

void write_epilogue(const ContractionBlock& block, const Values& products, const Values& before) {
    Function& f = block.f;
    const AxisId columns = block.plan.columns;
    Value* first = columns < 0 ? nullptr : f.position(columns);
    const auto enter = [&](std::size_t column) {
        if (column > 0)
            f.set_position(columns, f.ir().CreateAdd(first, f.number(std::int64_t(column))));
        else if (first) f.set_position(columns, first);
    };
    // Everything is read before anything is written, so that neighbours are read at once.
    std::vector<Values> values(products.size());
    for (std::size_t i = 0; i < products.size(); ++i) {
        enter(i);
        f.define(block.plan.contract, products[i]);
        if (!before.empty()) f.define(block.plan.before, before[i]);
        for (Id id : block.plan.stores) {
            const Store& store = *as<Store>(f.kernel(), id);
            Value* value = f.value(store.value);
            if (store.accumulate) value = f.map(Elementwise::add, {f.load(store.access), value});
            values[i].push_back(value);
        }
    }
    for (std::size_t number = 0; number < block.plan.stores.size(); ++number) {
        const Access& access = as<Store>(f.kernel(), block.plan.stores[number])->access;
        if (store_halves(block, access, values, number, first)) continue;
        for (std::size_t i = 0; i < products.size(); ++i) {
            enter(i);
            f.store(access, values[i][number]);
        }
    }
}

}  // namespace fovea::emit::nvptx
