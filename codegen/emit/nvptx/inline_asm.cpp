// The sums of wgmma are operands of their own: outputs tied to inputs, through the fence
// before and the wait after it, so that no other use can move in between.
#include "codegen/emit/nvptx/inline_asm.h"

#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

llvm::CallInst* call(Function& f, llvm::Type* result, const std::string& text,
                     const std::string& constraints, const Values& operands) {
    std::vector<llvm::Type*> types;
    for (Value* operand : operands) types.push_back(operand->getType());
    auto* type = llvm::FunctionType::get(result, types, false);
    llvm::CallInst* made =
        f.ir().CreateCall(llvm::InlineAsm::get(type, text, constraints, true), operands);
    made->setConvergent();
    return made;
}

/// `=f,=f,…`, and `,0,1,…`: so many outputs, and inputs tied to them.
std::string field_outputs(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += i ? ",=f" : "=f";
    return text;
}
std::string field_ties(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "," + std::to_string(i);
    return text;
}

/// An instruction that gives new values to floats.
Values update(Function& f, const std::string& text, const std::string& more_constraints,
              Values operands, const Values& floats) {
    operands.insert(operands.end(), floats.begin(), floats.end());
    const std::vector<llvm::Type*> types(floats.size(), f.ir().getFloatTy());
    auto* result = llvm::StructType::get(f.ir().getContext(), types);
    Value* all = call(
        f, result, text,
        field_outputs(floats.size()) + more_constraints + field_ties(floats.size()) + ",~{memory}",
        operands);
    Values updated;
    for (unsigned i = 0; i < floats.size(); ++i)
        updated.push_back(f.ir().CreateExtractValue(all, i));
    return updated;
}

}  // namespace

void write_asm(Function& f, const std::string& text, const std::string& constraints,
               const Values& operands) {
    read_asm(f, f.ir().getVoidTy(), text, constraints, operands);
}

Value* read_asm(Function& f, llvm::Type* result, const std::string& text,
                const std::string& constraints, const Values& operands) {
    return call(f, result, text, constraints + (constraints.empty() ? "" : ",") + "~{memory}",
                operands);
}

Value* sum_in_place(Function& f, Value* value, int number) {
    if (number == 0) return value;
    return read_asm(f, f.ir().getInt64Ty(), fmt::format("add.s64 $0, $1, {};", number), "=l,l",
                    {value});
}

Value* in_register(Function& f, Value* value) {
    return read_asm(f, f.ir().getInt32Ty(), "mov.b32 $0, $1;", "=r,r", {value});
}

Values start_product(Function& f, Value* a, Value* b, bool transposed_a, bool transposed_b,
                     const Values& sums, kernel::Factors factors) {
    const bool is_tf32 = factors == kernel::Factors::tf32;
    std::string registers;
    for (std::size_t i = 0; i < sums.size(); ++i)
        registers += (i ? ", $" : "$") + std::to_string(i);
    const std::size_t first = sums.size();
    const std::string layout =
        is_tf32 ? "" : fmt::format(", {}, {}", int(transposed_a), int(transposed_b));
    const std::string types =
        is_tf32 ? "k8.f32.tf32.tf32" : fmt::format("k16.f32.{0}.{0}", name_of(dtype_of(factors)));
    const std::string text = fmt::format(
        "{{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, 1, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n{}{} {{{}}}, ${}, ${}, adds, 1, 1{};\n\t}}",
        2 * sums.size(), types, registers, first, first + 1, layout);
    return update(f, text, ",l,l", {a, b}, sums);
}

Values fence_products(Function& f, const Values& sums) {
    return update(f, "wgmma.fence.sync.aligned;", "", {}, sums);
}

Values wait_for_products(Function& f, int left, const Values& sums) {
    return update(f, fmt::format("wgmma.wait_group.sync.aligned {};", left), "", {}, sums);
}

}  // namespace fovea::emit::nvptx
