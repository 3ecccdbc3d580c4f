// An entry's shell, its memory accesses and its control flow.
#include "codegen/emit/nvptx/function.h"

#include <algorithm>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/base/error.h"
#include "codegen/base/text.h"
#include "codegen/emit/nvptx/halves.h"
#include "codegen/emit/nvptx/inline_asm.h"
#include "codegen/emit/nvptx/tensor_map.h"
#include "codegen/kernel/analysis/kept_row.h"
#include "codegen/kernel/analysis/loop_nest.h"
#include "codegen/kernel/parameters.h"
#include "codegen/kernel/print.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

constexpr unsigned kGlobal = 1, kShared = 3;

void annotate(llvm::Function& function, const char* key, int value) {
    llvm::LLVMContext& context = function.getContext();
    llvm::Type* type = llvm::Type::getInt32Ty(context);
    llvm::Metadata* operands[] = {
        llvm::ValueAsMetadata::get(&function), llvm::MDString::get(context, key),
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(type, std::uint64_t(value)))};
    function.getParent()
        ->getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(context, operands));
}

/// Whether a host may hand the kernel one memory for two of its buffers: a cache whose rows stay.
bool may_overlap(const Kernel& kernel) {
    const auto is_loop_of_tiles = [](const Node& node) {
        const auto* loop = std::get_if<Loop>(&node.operation);
        return loop && loop->kind == LoopKind::tiles;
    };
    if (std::any_of(kernel.nodes.begin(), kernel.nodes.end(), is_loop_of_tiles)) return false;
    return find_kept_row(kernel, loop_nest(kernel).nodes, -1).has_value();
}

}  // namespace

Function::Function(llvm::Module& module, const Kernel& kernel, const std::string& entry,
                   int threads, const std::vector<TensorMap>& maps)
    : module_(module), kernel_(kernel), threads_(threads), ir_(module.getContext()) {
    llvm::FastMathFlags flags;
    flags.setAllowContract();  // products and sums may become one instruction
    ir_.setFastMathFlags(flags);
    const std::vector<std::string> symbols = symbols_of(kernel);
    llvm::Type* pointer = llvm::PointerType::get(module.getContext(), kGlobal);
    std::vector<llvm::Type*> types(kernel.buffers.size(), pointer);
    types.resize(types.size() + symbols.size(), ir_.getInt64Ty());
    const std::vector<int> sites = sites_of(kernel);
    const std::size_t key = types.size();
    if (!sites.empty()) types.push_back(pointer);
    types.resize(types.size() + sites.size(), ir_.getInt64Ty());
    const std::size_t first_map = types.size();
    types.resize(first_map + maps.size(), llvm::PointerType::get(module.getContext(), 0));
    function_ = llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), types, false),
                                       llvm::Function::ExternalLinkage, entry, module);
    if (function_->getName() != entry) throw InternalError("two entries are called " + entry);
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    // Shared memory may be read by the thread that wrote it alone, or by no thread yet: with this,
    // LLVM takes no load from the branch that it stands in.
    function_->addFnAttr(llvm::Attribute::SanitizeThread);
    annotate(*function_, "kernel", 1);
    annotate(*function_, "maxntidx", threads);
    // Without it ptxas spills some values for the sake of more blocks at a time.
    annotate(*function_, "minctasm", 1);

    const bool separate = !may_overlap(kernel);
    const llvm::Attribute aligned =
        llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(16));
    for (std::size_t i = 0; i < first_map; ++i) {
        llvm::Argument& argument = *function_->getArg(unsigned(i));
        if (types[i]->isPointerTy()) {
            argument.addAttr(aligned);
            if (separate) argument.addAttr(llvm::Attribute::NoAlias);
        }
        const std::size_t symbol = i - kernel.buffers.size();
        if (i < kernel.buffers.size()) {
            argument.setName(kernel.buffers[i].name);
            if (!kernel.buffers[i].written) argument.addAttr(llvm::Attribute::ReadOnly);
            buffers_.push_back(&argument);
        } else if (symbol < symbols.size()) {
            argument.setName(symbols[symbol]);
            symbols_[symbols[symbol]] = &argument;
        } else if (i > key) {
            argument.setName(site_name(i - key - 1));
            sites_[sites[i - key - 1]] = &argument;
        } else {
            argument.setName("draw");
            argument.addAttr(llvm::Attribute::ReadOnly);
            draw_ = &argument;
        }
    }
    add_maps(maps, unsigned(first_map));
    ir_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "start", function_));
    thread_ = ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {});
    thread_->setName("thread");
    block_ =
        ir_.CreateZExt(ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {}),
                       ir_.getInt64Ty(), "block");
    positions_.resize(kernel.axes.size());
    find_dependences();
}

/// The maps are handed over by value; `grid_constant` keeps them where they are, since copies take
/// none from a thread's own memory.
void Function::add_maps(const std::vector<TensorMap>& maps, unsigned first) {
    if (maps.empty()) return;
    llvm::LLVMContext& context = module_.getContext();
    std::vector<llvm::Metadata*> numbers;
    for (std::size_t i = 0; i < maps.size(); ++i) {
        if (const auto reason = why_not_tensor_map(kernel_, maps[i]))
            throw InternalError("kernel " + kernel_.name +
                                " has a tensor map that is none: " + *reason);
        llvm::Argument& argument = *function_->getArg(first + unsigned(i));
        argument.setName("map_" + kernel_.buffers[std::size_t(maps[i].buffer)].name);
        argument.addAttr(llvm::Attribute::getWithByValType(
            context, llvm::ArrayType::get(ir_.getInt64Ty(), kTensorMapBytes / 8)));
        argument.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(64)));
        maps_.push_back(&argument);
        numbers.push_back(llvm::ConstantAsMetadata::get(ir_.getInt32(first + unsigned(i) + 1)));
    }
    llvm::Metadata* operands[] = {llvm::ValueAsMetadata::get(function_),
                                  llvm::MDString::get(context, "grid_constant"),
                                  llvm::MDNode::get(context, numbers)};
    module_.getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(context, operands));
}

void Function::read_numbers_again() {
    const auto read = [&](const char* text) {
        return read_asm(*this, ir_.getInt32Ty(), text, "=r", {});
    };
    thread_ = read("mov.u32 $0, %tid.x;");
    block_ = ir_.CreateZExt(read("mov.u32 $0, %ctaid.x;"), ir_.getInt64Ty());
}

void Function::finish() { ir_.CreateRetVoid(); }

Value* Function::symbol(const std::string& name) const {
    const auto found = symbols_.find(name);
    if (found == symbols_.end())
        throw InternalError("kernel " + kernel_.name + " has no parameter " + name);
    return found->second;
}

Value* Function::dim(const Dim& dim) {
    Value* result = number(dim.constant());
    for (const DimTerm& term : dim.terms()) {
        if (!term.factor) continue;
        Value* product = number(term.factor);
        for (Symbol each : term.symbols) {
            if (!each) continue;
            Text name;
            name << each;
            product = ir_.CreateNSWMul(product, symbol(std::string(name.view())));
        }
        result = ir_.CreateNSWAdd(result, product);
    }
    return result;
}

Value* Function::extent(AxisId axis) { return dim(kernel_.axes[std::size_t(axis)].extent); }

Value* Function::position(AxisId axis) const {
    Value* result = positions_[std::size_t(axis)];
    if (!result)
        throw InternalError("kernel " + kernel_.name + ": no position along " +
                            kernel_.axes[std::size_t(axis)].name);
    return result;
}

void Function::set_position(AxisId axis, Value* position) {
    positions_[std::size_t(axis)] = position;
}

Value* Function::sum(const std::vector<Stride>& strides, const Dim& offset) {
    Value* result = dim(offset);
    const auto add = [&](Value* times, const Dim& step) {
        result = ir_.CreateNSWAdd(result, ir_.CreateNSWMul(times, dim(step)));
    };
    for (const Stride& stride : strides) {
        Value* at = position(stride.axis);
        if (!stride.panel) {
            add(at, stride.stride);
            continue;
        }
        Value* panel = number(stride.panel);
        add(ir_.CreateUDiv(at, panel), stride.stride);
        add(ir_.CreateURem(at, panel), stride.step);
    }
    return result;
}

Value* Function::element(const Access& access) {
    Value* result = sum(access.strides, access.offset);
    if (access.row < 0) return result;
    Value* row = ir_.CreateSExt(value(access.row, DType::i32), ir_.getInt64Ty());
    return ir_.CreateNSWAdd(result, ir_.CreateNSWMul(row, dim(access.row_stride)));
}

llvm::Type* Function::memory_type(DType dtype) {
    switch (dtype) {
        case DType::f32: return ir_.getFloatTy();
        case DType::bf16:
        case DType::f16: return ir_.getInt16Ty();
        case DType::i32: return ir_.getInt32Ty();
        case DType::boolean: return ir_.getInt8Ty();
    }
    return nullptr;
}

Value* Function::address(const Access& access) {
    const DType dtype = kernel_.buffers[std::size_t(access.buffer)].dtype;
    return ir_.CreateInBoundsGEP(memory_type(dtype), buffer(access.buffer), element(access));
}

Value* Function::load(const Access& access) { return load_at(access.buffer, element(access)); }
void Function::store(const Access& access, Value* value) {
    store_at(access.buffer, element(access), value);
}

Value* Function::load_at(int index, Value* element) {
    const DType dtype = kernel_.buffers[std::size_t(index)].dtype;
    llvm::Type* type = memory_type(dtype);
    Value* bits = ir_.CreateLoad(type, ir_.CreateInBoundsGEP(type, buffer(index), element));
    if (dtype == DType::boolean) return ir_.CreateICmpNE(bits, ir_.getInt8(0));
    return is_half(dtype) ? float_of_half(ir_, dtype, bits) : bits;
}

void Function::store_at(int index, Value* element, Value* value) {
    const DType dtype = kernel_.buffers[std::size_t(index)].dtype;
    llvm::Type* type = memory_type(dtype);
    if (dtype == DType::boolean) value = ir_.CreateZExt(value, type);
    if (is_half(dtype)) value = half_of_float(ir_, dtype, value);
    ir_.CreateStore(value, ir_.CreateInBoundsGEP(type, buffer(index), element));
}

void Function::scope(const std::function<void()>& body) {
    const Values positions = positions_;
    const std::size_t changes = changes_.size();
    body();
    positions_ = positions;
    while (changes_.size() > changes) {
        const Change change = std::move(changes_.back());
        changes_.pop_back();
        if (change.before) known_[change.key] = change.before;
        else known_.erase(change.key);
    }
}

void Function::loop(Value* first, Value* end, Value* step, const Body& body) {
    loop_carrying(first, end, step, {}, [&](Value* at, const Values&) {
        body(at);
        return Values{};
    });
}

Values Function::loop_carrying(Value* first, Value* end, Value* step, const Values& initial,
                               const CarryingBody& body) {
    llvm::LLVMContext& context = module_.getContext();
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(context, "loop", function_);
    auto* inside = llvm::BasicBlock::Create(context, "turn", function_);
    auto* after = llvm::BasicBlock::Create(context, "end", function_);
    ir_.CreateBr(head);
    ir_.SetInsertPoint(head);
    llvm::PHINode* at = ir_.CreatePHI(first->getType(), 2);
    at->addIncoming(first, before);
    Values carried;
    for (Value* value : initial) {
        llvm::PHINode* one = ir_.CreatePHI(value->getType(), 2);
        one->addIncoming(value, before);
        carried.push_back(one);
    }
    ir_.CreateCondBr(ir_.CreateICmpSLT(at, end), inside, after);
    ir_.SetInsertPoint(inside);
    Values next;
    const int reductions = reductions_;
    scope([&] { next = body(at, carried); });
    if ((reductions_ - reductions) % 2) {  // the next turn starts with the memory of the last one
        barrier();
        ++reductions_;
    }
    Value* following = ir_.CreateNSWAdd(at, step);
    at->addIncoming(following, ir_.GetInsertBlock());
    for (std::size_t i = 0; i < carried.size(); ++i)
        llvm::cast<llvm::PHINode>(carried[i])->addIncoming(next[i], ir_.GetInsertBlock());
    ir_.CreateBr(head);
    ir_.SetInsertPoint(after);
    return carried;
}

void Function::when(Value* condition, const std::function<void()>& body) {
    llvm::LLVMContext& context = module_.getContext();
    auto* inside = llvm::BasicBlock::Create(context, "then", function_);
    auto* after = llvm::BasicBlock::Create(context, "end", function_);
    ir_.CreateCondBr(condition, inside, after);
    ir_.SetInsertPoint(inside);
    scope(body);
    ir_.CreateBr(after);
    ir_.SetInsertPoint(after);
}

Value* Function::shared(llvm::Type* type, std::size_t count, const std::string& name) {
    auto* array = llvm::ArrayType::get(type, count);
    auto* memory = new llvm::GlobalVariable(
        module_, array, false, llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(array),
        function_->getName() + "_" + name, nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
    memory->setAlignment(llvm::Align(16));
    return memory;
}

}  // namespace fovea::emit::nvptx
