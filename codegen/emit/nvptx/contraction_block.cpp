// Positions of a block, and the epilogue of one element.
#include "codegen/emit/nvptx/contraction_block.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::BasicBlock;
using llvm::Value;

namespace {

constexpr unsigned kSharedSpace = 3;

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
    const auto first = [&](AxisId axis, int tile, const char* name) -> Value* {
        if (axis < 0) return nullptr;
        Value* count =
            ir.CreateUDiv(ir.CreateAdd(f.extent(axis), f.number(tile - 1)), f.number(tile));
        return ir.CreateMul(take(count), f.number(tile), name);
    };
    block.first_column = first(plan.columns, tile_columns, "first_column");
    block.first_row = first(plan.rows, tile_rows, "first_row");
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
    memory->setAlignment(llvm::Align(128));
    return memory;
}

Value* at_byte(Function& f, Value* base, Value* bytes) {
    return f.ir().CreateGEP(f.ir().getInt8Ty(), base, bytes);
}

void write_epilogue(const ContractionBlock& block, Value* product) {
    Function& f = block.f;
    f.define(block.plan.contract, product);
    Values values;
    for (Id id : block.plan.stores) {
        const Store& store = *as<Store>(f.kernel(), id);
        Value* value = f.value(store.value);
        if (store.accumulate) value = f.map(Elementwise::add, {f.load(store.access), value});
        values.push_back(value);
    }
    for (std::size_t i = 0; i < values.size(); ++i)
        f.store(as<Store>(f.kernel(), block.plan.stores[i])->access, values[i]);
}

Value* rounded_to_bfloat16(Function& f, Value* value) {
    llvm::IRBuilder<>& ir = f.ir();
    Value* bits = ir.CreateBitCast(ir.CreateIntrinsic(llvm::Intrinsic::nvvm_f2bf16_rn, {}, {value}),
                                   ir.getInt16Ty());
    return ir.CreateBitCast(ir.CreateShl(ir.CreateZExt(bits, ir.getInt32Ty()), 16),
                            ir.getFloatTy());
}

}  // namespace fovea::emit::nvptx
