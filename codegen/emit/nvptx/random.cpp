// Elements of one group of four columns share their words: LLVM makes them once where it sees so.
#include "codegen/emit/nvptx/random.h"

#include <array>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/emit/nvptx/elementwise.h"

namespace fovea::emit::nvptx {
namespace {

using llvm::Value;
using Words = std::array<Value*, 4>;

constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

Words philox(llvm::IRBuilder<>& ir, Words counter, Value* key0, Value* key1) {
    // In words of 32 bits: as one product of 64 bits it would become that of two long numbers.
    const auto low = [&](std::uint32_t multiplier, Value* word) {
        return ir.CreateMul(ir.getInt32(multiplier), word);
    };
    const auto high = [&](std::uint32_t multiplier, Value* word) {
        return ir.CreateIntrinsic(ir.getInt32Ty(), llvm::Intrinsic::nvvm_mulhi_ui,
                                  {ir.getInt32(multiplier), word});
    };
    for (int round = 0; round < 10; ++round) {
        Value *high0 = high(kMultiplier0, counter[0]), *low0 = low(kMultiplier0, counter[0]);
        Value *high1 = high(kMultiplier1, counter[2]), *low1 = low(kMultiplier1, counter[2]);
        counter = {ir.CreateXor(ir.CreateXor(high1, counter[1]), key0), low1,
                   ir.CreateXor(ir.CreateXor(high0, counter[3]), key1), low0};
        key0 = ir.CreateAdd(key0, ir.getInt32(kWeyl0));
        key1 = ir.CreateAdd(key1, ir.getInt32(kWeyl1));
    }
    return counter;
}

/// A word is kept from here on, in its upper 24 bits.
std::uint32_t threshold(double probability) {
    const double scaled = probability * 0x1p24;
    const auto whole = std::uint32_t(scaled);
    return whole + (double(whole) < scaled ? 1U : 0U);
}

}  // namespace

Value* dropout_factor(llvm::IRBuilder<>& ir, const Dropout& dropout, Value* row, Value* column) {
    const auto low = [&](Value* x) { return ir.CreateTrunc(x, ir.getInt32Ty()); };
    Value* group = ir.CreateLShr(column, 2);
    const Words words = philox(ir, {low(dropout.step), low(dropout.site), row, group},
                               low(dropout.seed), low(ir.CreateLShr(dropout.seed, 32)));
    Value* lane = ir.CreateAnd(column, 3);
    Value* odd = ir.CreateICmpNE(ir.CreateAnd(lane, 1), ir.getInt32(0));
    Value* word = ir.CreateSelect(ir.CreateICmpULT(lane, ir.getInt32(2)),
                                  ir.CreateSelect(odd, words[1], words[0]),
                                  ir.CreateSelect(odd, words[3], words[2]));
    Value* kept =
        ir.CreateICmpUGE(ir.CreateLShr(word, 8), ir.getInt32(threshold(dropout.probability)));
    return ir.CreateSelect(kept, float_constant(ir, 1 / (1 - dropout.probability)),
                           float_constant(ir, 0));
}

}  // namespace fovea::emit::nvptx
