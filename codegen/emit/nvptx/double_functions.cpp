// The reductions and series are those of runtime/cpu/double_math.h.
#include "codegen/emit/nvptx/double_functions.h"

#include <cmath>
#include <initializer_list>

#include <llvm/IR/Intrinsics.h>

namespace fovea::emit::nvptx {
namespace {

using llvm::Value;

class Doubles {
  public:
    explicit Doubles(llvm::IRBuilder<>& ir) : ir_(ir) {}

    Value* number(double value) { return llvm::ConstantFP::get(ir_.getDoubleTy(), value); }
    Value* fma(Value* a, Value* b, Value* c) {
        return ir_.CreateIntrinsic(ir_.getDoubleTy(), llvm::Intrinsic::fma, {a, b, c});
    }
    Value* widen(Value* x) { return ir_.CreateFPExt(x, ir_.getDoubleTy()); }
    Value* bits(Value* x) { return ir_.CreateBitCast(x, ir_.getInt64Ty()); }
    Value* from_bits(Value* x) { return ir_.CreateBitCast(x, ir_.getDoubleTy()); }
    Value* magnitude(Value* x) { return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
    Value* polynomial(Value* x, std::initializer_list<double> coefficients) {
        Value* result = nullptr;
        for (double coefficient : coefficients)
            result = result ? fma(result, x, number(coefficient)) : number(coefficient);
        return result;
    }
    /// Adding it leaves no room for a fraction: the whole number is in the lower bits.
    Value* shift() { return number(0x1.8p52); }

    /// log2 of finite x > 0: the series of the inverse hyperbolic tangent of (m - 1) / (m + 1), for
    /// x = 2^n m with m in [sqrt(1/2), sqrt(2)).
    Value* log2_positive(Value* x) {
        const std::uint64_t half_root = 0x3fe6a09e667f3bcd, one = std::uint64_t(1023) << 52;
        Value* exponent = ir_.CreateAnd(
            ir_.CreateAdd(ir_.CreateSub(bits(x), ir_.getInt64(half_root)), ir_.getInt64(one)),
            ir_.getInt64(std::uint64_t(0x7ff) << 52));
        Value* n = ir_.CreateSIToFP(ir_.CreateSub(ir_.CreateLShr(exponent, 52), ir_.getInt64(1023)),
                                    ir_.getDoubleTy());
        Value* m = from_bits(ir_.CreateAdd(ir_.CreateSub(bits(x), exponent), ir_.getInt64(one)));
        Value* t = ir_.CreateFDiv(ir_.CreateFSub(m, number(1)), ir_.CreateFAdd(m, number(1)));
        Value* p = polynomial(ir_.CreateFMul(t, t), {1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9,
                                                     1. / 7, 1. / 5, 1. / 3, 1});
        return fma(ir_.CreateFMul(p, t), number(2.8853900817779268147), n);
    }

    /// 2^x for |x| <= 1000: a Taylor polynomial within 2^-36 of its size.
    Value* exp2_small(Value* x) {
        Value* shifted = ir_.CreateFAdd(x, shift());
        Value* f = ir_.CreateFMul(ir_.CreateFSub(x, ir_.CreateFSub(shifted, shift())),
                                  number(0.69314718055994530942));
        Value* p = polynomial(f, {1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040, 1. / 720,
                                  1. / 120, 1. / 24, 1. / 6, 0.5, 1, 1});
        return from_bits(ir_.CreateAdd(bits(p), ir_.CreateShl(bits(shifted), 52)));
    }

    Value* is_whole(Value* v) {
        Value* capped =
            ir_.CreateSelect(ir_.CreateFCmpOLT(magnitude(v), number(0x1p32)), v, number(0));
        return ir_.CreateFCmpOEQ(ir_.CreateFSub(ir_.CreateFAdd(capped, shift()), shift()), capped);
    }

  private:
    llvm::IRBuilder<>& ir_;
};

/// Of x in double precision, whose sign `lane` has.
Value* sine_of(llvm::IRBuilder<>& ir, Value* x, Value* lane, int quadrant) {
    Doubles d(ir);
    Value* shifted = d.fma(x, d.number(6.36619772367581382433e-01), d.shift());
    Value* n = ir.CreateFNeg(ir.CreateFSub(shifted, d.shift()));
    Value* y = d.fma(n, d.number(1.57079631090164184570), x);
    y = d.fma(n, d.number(1.58932547735281966916e-08), y);
    Value* z = ir.CreateFMul(y, y);
    Value* sine = d.polynomial(z, {0.0000027183114939898219064, -0.000198393348360966317347,
                                   0.0083333293858894631756, -0.166666666416265235595});
    sine = d.fma(ir.CreateFMul(sine, z), y, y);
    Value* cosine = d.polynomial(z, {0.0000243904487962774090654, -0.00138867637746099294692,
                                     0.0416666233237390631894, -0.499999997251031003120, 1.0});
    Value* turns = ir.CreateAdd(d.bits(shifted), ir.getInt64(std::uint64_t(quadrant)));
    Value* even = ir.CreateICmpEQ(ir.CreateAnd(turns, 1), ir.getInt64(0));
    Value* size = ir.CreateSelect(even, sine, cosine);
    Value* sign = ir.CreateShl(ir.CreateAnd(turns, 2), 62);
    Value* result =
        ir.CreateFPTrunc(d.from_bits(ir.CreateXor(d.bits(size), sign)), ir.getFloatTy());
    if (quadrant) return result;
    // The sign of a zero is lost in the reduction.
    Value* zero = llvm::ConstantFP::get(ir.getFloatTy(), 0);
    return ir.CreateSelect(ir.CreateFCmpOEQ(lane, zero), lane, result);
}

}  // namespace

Value* sine(llvm::IRBuilder<>& ir, Value* x, int quadrant) {
    return sine_of(ir, Doubles(ir).widen(x), x, quadrant);
}

Value* scaled_sine(llvm::IRBuilder<>& ir, Value* x, Value* y, Value* z, int quadrant) {
    Doubles d(ir);
    Value* scale = d.exp2_small(ir.CreateFAdd(d.widen(y), d.widen(z)));
    return sine_of(ir, ir.CreateFMul(d.widen(x), scale), x, quadrant);
}

Value* power(llvm::IRBuilder<>& ir, Value* base, Value* exponent) {
    Doubles d(ir);
    Value *x = d.widen(base), *y = d.widen(exponent), *size = d.magnitude(x);
    Value *zero = d.number(0), *one = d.number(1), *infinity = d.number(HUGE_VAL);
    Value* log = d.log2_positive(size);
    log = ir.CreateSelect(ir.CreateFCmpOEQ(size, zero), d.number(-HUGE_VAL), log);
    log = ir.CreateSelect(ir.CreateFCmpOEQ(size, infinity), infinity, log);
    Value* z = ir.CreateFMul(y, log);
    Value* is_one = ir.CreateOr(ir.CreateFCmpOEQ(size, one), ir.CreateFCmpOEQ(y, zero));
    z = ir.CreateSelect(is_one, zero, z);
    z = ir.CreateSelect(ir.CreateFCmpOGT(z, d.number(-300)), z, d.number(-300));
    z = ir.CreateSelect(ir.CreateFCmpOLT(z, d.number(300)), z, d.number(300));
    Value* whole = d.is_whole(y);
    Value* odd = ir.CreateAnd(whole, ir.CreateNot(d.is_whole(ir.CreateFMul(y, d.number(0.5)))));
    Value* sign = ir.CreateAnd(d.bits(x), ir.getInt64(std::uint64_t(1) << 63));
    Value* size_of_power = d.bits(d.exp2_small(z));
    Value* power =
        d.from_bits(ir.CreateSelect(odd, ir.CreateXor(size_of_power, sign), size_of_power));
    Value* root_of_negative = ir.CreateAnd(
        ir.CreateAnd(ir.CreateFCmpOLT(x, zero), ir.CreateFCmpOGT(x, d.number(-HUGE_VAL))),
        ir.CreateNot(whole));
    // Unordered: also where one of the two is NaN.
    Value* no_base = ir.CreateAnd(ir.CreateFCmpUNO(x, x), ir.CreateFCmpUNE(y, zero));
    Value* no_exponent = ir.CreateAnd(ir.CreateFCmpUNO(y, y), ir.CreateFCmpUNE(x, one));
    Value* outside = ir.CreateOr(ir.CreateAnd(root_of_negative, ir.CreateFCmpORD(y, y)),
                                 ir.CreateOr(no_base, no_exponent));
    return ir.CreateFPTrunc(ir.CreateSelect(outside, d.number(std::nan("")), power),
                            ir.getFloatTy());
}

}  // namespace fovea::emit::nvptx
