#include "codegen/emit/nvptx/group_products.h"

#include <fmt/format.h>

#include "codegen/emit/nvptx/inline_asm.h"

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

/// `$first, …`: so many operands of an instruction.
std::string registers(std::size_t first, std::size_t count) {
    std::string text;
    for (std::size_t i = first; i < first + count; ++i)
        text += (i > first ? ", $" : "$") + std::to_string(i);
    return text;
}

std::string repeated(const std::string& constraint, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += (i ? "," : "") + constraint;
    return text;
}

std::string ties(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "," + std::to_string(i);
    return text;
}

Values fields(Function& f, const std::vector<llvm::Type*>& types, const std::string& text,
              const std::string& constraints, const Values& operands) {
    auto* result = llvm::StructType::get(f.ir().getContext(), types);
    Value* all = read_asm(f, result, text, constraints, operands);
    Values values;
    for (unsigned i = 0; i < types.size(); ++i) values.push_back(f.ir().CreateExtractValue(all, i));
    return values;
}

std::vector<llvm::Type*> types_of(const Values& values) {
    std::vector<llvm::Type*> types;
    for (Value* value : values) types.push_back(value->getType());
    return types;
}

std::string outputs(const Values& values) {
    std::string text;
    for (Value* value : values)
        text +=
            std::string(text.empty() ? "" : ",") + (value->getType()->isFloatTy() ? "=f" : "=r");
    return text;
}

std::string product(std::size_t sums, const std::string& a, std::size_t b, bool adds,
                    const char* layout, DType half) {
    return fmt::format(
        "{{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, {0}, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n{1}k16.f32.{2}.{2} {{{3}}}, {4}, ${5}, adds, 1, 1, {6};"
        "\n\t}}",
        int(adds), 2 * sums, name_of(half), registers(0, sums), a, b, layout);
}

}  // namespace

/// The start, the distance of columns of 64 elements and that of eight rows, each in units of 16
/// bytes (PTX ISA, "Matrix Descriptor Format").
Value* describe_operand(Function& f, Value* address, int apart) {
    llvm::IRBuilder<>& ir = f.ir();
    Value* start = ir.CreateZExt(ir.CreatePtrToInt(address, ir.getInt32Ty()), ir.getInt64Ty());
    Value* units = ir.CreateAnd(ir.CreateLShr(start, 4), 0x3fff);
    const auto in_units = [](int bytes) { return std::uint64_t(bytes / 16); };
    return ir.CreateOr(
        units, ir.getInt64(in_units(apart) << 16 | in_units(kEightRows) << 32 | kSwizzle128));
}

Values fence_registers(Function& f, const Values& registers) {
    const char* text = "wgmma.fence.sync.aligned;";
    if (registers.empty()) {
        write_asm(f, text);
        return {};
    }
    return fields(f, types_of(registers), text, outputs(registers) + ties(registers.size()),
                  registers);
}

Values start_first_product(Function& f, Value* a, Value* b, int columns, DType half) {
    const auto sums = std::size_t(columns) / 2;
    const std::vector<llvm::Type*> types(sums, f.ir().getFloatTy());
    return fields(f, types, product(sums, fmt::format("${}", sums), sums + 1, false, "0, 0", half),
                  repeated("=f", sums) + ",l,l", {a, b});
}

Values start_product_of_registers(Function& f, const Values& a, Value* b, const Values& sums,
                                  DType half) {
    const std::size_t count = sums.size();
    Values operands = a;
    operands.push_back(b);
    operands.insert(operands.end(), sums.begin(), sums.end());
    const std::vector<llvm::Type*> types(count, f.ir().getFloatTy());
    return fields(
        f, types,
        product(count, "{" + registers(count, a.size()) + "}", count + a.size(), true, "1", half),
        repeated("=f", count) + "," + repeated("r", a.size()) + ",l" + ties(count), operands);
}

void commit_products(Function& f) { write_asm(f, "wgmma.commit_group.sync.aligned;"); }

}  // namespace fovea::emit::nvptx
