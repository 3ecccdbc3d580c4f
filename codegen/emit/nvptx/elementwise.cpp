// Polynomials and reductions are those of runtime/cpu/math.h; powers of two, reciprocal roots and
// their like are instructions of the machine.
#include "codegen/emit/nvptx/elementwise.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/double_functions.h"

namespace fovea::emit::nvptx {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

/// Elementary functions of one float.
class Floats {
  public:
    explicit Floats(llvm::IRBuilder<>& ir) : ir_(ir) {}

    Value* number(double value) { return float_constant(ir_, value); }
    Value* call(ID id, std::initializer_list<Value*> operands) {
        return ir_.CreateIntrinsic(ir_.getFloatTy(), id, operands);
    }
    Value* fma(Value* a, Value* b, Value* c) { return call(llvm::Intrinsic::fma, {a, b, c}); }
    Value* maximum(Value* a, Value* b) { return call(llvm::Intrinsic::maximum, {a, b}); }
    Value* minimum(Value* a, Value* b) { return call(llvm::Intrinsic::minimum, {a, b}); }
    Value* magnitude(Value* x) { return call(llvm::Intrinsic::fabs, {x}); }
    Value* with_sign(Value* size, Value* x) { return call(llvm::Intrinsic::copysign, {size, x}); }
    /// 0 below 2^-126: results less than that would take three more instructions.
    Value* exp2(Value* x) { return call(llvm::Intrinsic::nvvm_ex2_approx_ftz_f, {x}); }
    Value* rsqrt(Value* x) { return call(llvm::Intrinsic::nvvm_rsqrt_approx_f, {x}); }
    Value* sqrt(Value* x) { return call(llvm::Intrinsic::sqrt, {x}); }
    Value* reciprocal(Value* x) { return ir_.CreateFDiv(number(1), x); }

    /// coefficients[0] * x^n + … + coefficients[n]
    Value* polynomial(Value* x, std::initializer_list<double> coefficients) {
        Value* result = nullptr;
        for (double coefficient : coefficients)
            result = result ? fma(result, x, number(coefficient)) : number(coefficient);
        return result;
    }

    /// The whole number nearest to x / ln 2.
    Value* exponent(Value* x) {
        return call(llvm::Intrinsic::rint, {ir_.CreateFMul(x, number(kLog2e))});
    }
    /// e^x / 2^n, of which x / ln 2 - n is the logarithm; log2 e is taken in two parts.
    Value* significand(Value* x, Value* n) {
        Value* f = fma(x, number(kLog2e), ir_.CreateFNeg(n));
        return exp2(fma(x, number(kLog2eRest), f));
    }
    /// e^x. The exponent is cut to normal numbers and the rest left to the significand, so that
    /// results beyond, infinities and NaN come out right.
    Value* exp(Value* x) {
        Value* n = call(llvm::Intrinsic::minnum,
                        {call(llvm::Intrinsic::maxnum, {exponent(x), number(-126)}), number(126)});
        Value* bits = ir_.CreateShl(
            ir_.CreateAdd(ir_.CreateFPToSI(n, ir_.getInt32Ty()), ir_.getInt32(127)), 23);
        return ir_.CreateFMul(significand(x, n), ir_.CreateBitCast(bits, ir_.getFloatTy()));
    }

    /// ln x; -infinity at 0, NaN below. The polynomial is that of Cephes' logf.
    Value* log(Value* x) {
        Value* subnormal = ir_.CreateFCmpOLT(x, number(0x1p-126));
        Value* scaled = ir_.CreateSelect(subnormal, ir_.CreateFMul(x, number(0x1p23)), x);
        Value* bits = ir_.CreateBitCast(scaled, ir_.getInt32Ty());
        // x = 2^n * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
        Value* n = ir_.CreateAShr(ir_.CreateSub(bits, ir_.getInt32(0x3f3504f3)), 23);
        Value* f = ir_.CreateFSub(
            ir_.CreateBitCast(ir_.CreateSub(bits, ir_.CreateShl(n, 23)), ir_.getFloatTy()),
            number(1));
        Value* e = ir_.CreateFSub(ir_.CreateSIToFP(n, ir_.getFloatTy()),
                                  ir_.CreateSelect(subnormal, number(23), number(0)));
        Value* z = ir_.CreateFMul(f, f);
        Value* p = polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                                  -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                                  2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
        p = fma(e, number(-2.12194440e-4), ir_.CreateFMul(ir_.CreateFMul(p, f), z));
        p = fma(z, number(-0.5), p);
        Value* result = fma(e, number(0.693359375), ir_.CreateFAdd(f, p));
        Value* positive = ir_.CreateFCmpOGT(x, number(0));
        Value* finite = ir_.CreateAnd(positive, ir_.CreateFCmpOLT(x, number(HUGE_VAL)));
        Value* below = ir_.CreateSelect(ir_.CreateFCmpOEQ(x, number(0)), number(-HUGE_VAL),
                                        number(std::nan("")));
        return ir_.CreateSelect(finite, result, ir_.CreateSelect(positive, x, below));
    }

    /// (e^f - 1) 2^n + (2^n - 1) for x = f + n ln 2, with 2^(n - 1), since 2^n could be too large.
    Value* expm1(Value* x) {
        Value* capped = minimum(maximum(x, number(-30)), number(88.9));
        Value* n = call(llvm::Intrinsic::rint, {ir_.CreateFMul(capped, number(kLog2e))});
        Value* minus = ir_.CreateFNeg(n);
        Value* f = fma(minus, number(-2.12194440e-4), fma(minus, number(0.693359375), capped));
        Value* p = polynomial(f, {1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 0.5});
        p = fma(p, ir_.CreateFMul(f, f), f);
        Value* bits = ir_.CreateAdd(ir_.CreateFPToSI(n, ir_.getInt32Ty()), ir_.getInt32(126));
        Value* half = ir_.CreateBitCast(ir_.CreateShl(bits, 23), ir_.getFloatTy());
        Value* result = fma(p, half, ir_.CreateFSub(half, number(0.5)));
        return ir_.CreateSelect(ir_.CreateFCmpOEQ(x, number(0)), x, ir_.CreateFAdd(result, result));
    }
    /// What rounding 1 + x to u loses is made up for by the slope, x / (u - 1).
    Value* log1p(Value* x) {
        Value* u = ir_.CreateFAdd(x, number(1));
        Value* slope = ir_.CreateFDiv(x, ir_.CreateFSub(u, number(1)));
        Value* same =
            ir_.CreateOr(ir_.CreateFCmpOEQ(u, number(1)), ir_.CreateFCmpOEQ(u, number(HUGE_VAL)));
        return ir_.CreateSelect(same, x, ir_.CreateFMul(log(u), slope));
    }

    Value* sign(Value* x) {
        Value* below = ir_.CreateSelect(ir_.CreateFCmpOLT(x, number(0)), number(-1), number(0));
        return ir_.CreateSelect(ir_.CreateFCmpOGT(x, number(0)), number(1), below);
    }

    /// The polynomial is that of Cephes' atanf.
    Value* atan2(Value* y, Value* x) {
        constexpr double kPi = 3.14159265358979324;
        Value *a = magnitude(y), *b = magnitude(x);
        Value *smallest = minimum(a, b), *largest = maximum(a, b);
        Value* same = ir_.CreateSelect(ir_.CreateFCmpOEQ(largest, number(0)), number(0), number(1));
        Value* ratio = ir_.CreateSelect(ir_.CreateFCmpOEQ(smallest, largest), same,
                                        ir_.CreateFDiv(smallest, largest));
        Value* steep = ir_.CreateFCmpOGT(ratio, number(0.414213562373));  // tan(pi / 8)
        Value* turned =
            ir_.CreateFDiv(ir_.CreateFSub(ratio, number(1)), ir_.CreateFAdd(ratio, number(1)));
        Value* t = ir_.CreateSelect(steep, turned, ratio);
        Value* z = ir_.CreateFMul(t, t);
        Value* p = polynomial(
            z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
        p = fma(ir_.CreateFMul(p, z), t, t);
        p = ir_.CreateSelect(steep, ir_.CreateFAdd(p, number(kPi / 4)), p);
        p = ir_.CreateSelect(ir_.CreateFCmpOGT(a, b), ir_.CreateFSub(number(kPi / 2), p), p);
        Value* left = ir_.CreateICmpSLT(ir_.CreateBitCast(x, ir_.getInt32Ty()), ir_.getInt32(0));
        p = ir_.CreateSelect(left, ir_.CreateFSub(number(kPi), p), p);
        return with_sign(p, y);
    }

    /// An odd polynomial near 0 (Cephes' tanhf), 1 - 2 / (e^2x + 1) elsewhere.
    Value* tanh(Value* x) {
        Value* size = magnitude(x);
        Value* z = ir_.CreateFMul(x, x);
        Value* p = polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                                  1.33314422036e-1, -3.33332819422e-1});
        Value* near = fma(ir_.CreateFMul(p, z), x, x);
        Value* over = ir_.CreateFAdd(exp(ir_.CreateFAdd(size, size)), number(1));
        Value* far = ir_.CreateFSub(number(1), ir_.CreateFDiv(number(2), over));
        return ir_.CreateSelect(ir_.CreateFCmpOLT(size, number(0.625)), near, with_sign(far, x));
    }
    Value* sigmoid(Value* x) {
        return reciprocal(ir_.CreateFAdd(number(1), exp(ir_.CreateFNeg(x))));
    }
    Value* one_plus(Value* significand, Value* exponent) {
        return fma(significand, exp2(exponent), number(1));
    }

    /// The polynomials are those of Juffa's erff.
    Value* erf(Value* x) {
        Value* size = magnitude(x);
        Value* t = minimum(size, number(4));
        Value* s = ir_.CreateFMul(t, t);
        Value* far = polynomial(t, {-1.72853470e-5, 3.83197126e-4});
        far = fma(far, s, polynomial(t, {-3.88396438e-3, 2.42546219e-2}));
        for (double coefficient : {-1.06777877e-1, -6.34846687e-1, -1.28717512e-1})
            far = fma(far, t, number(coefficient));
        far = ir_.CreateFSub(number(1), exp(fma(far, t, ir_.CreateFNeg(t))));
        Value* near = polynomial(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1,
                                     -3.76125336e-1, 1.28379166e-1});
        near = fma(near, x, x);
        return ir_.CreateSelect(ir_.CreateFCmpOGT(size, number(0.927734375)), with_sign(far, x),
                                near);
    }

  private:
    static constexpr double kLog2e = 0x1.715476p+0, kLog2eRest = 0x1.4ae0c0p-26;
    llvm::IRBuilder<>& ir_;
};

Value* of_floats(llvm::IRBuilder<>& ir, Elementwise function, const std::vector<Value*>& x) {
    Floats f(ir);
    switch (function) {
        case Elementwise::neg: return ir.CreateFNeg(x[0]);
        case Elementwise::exp: return f.exp(x[0]);
        case Elementwise::log: return f.log(x[0]);
        case Elementwise::exp2: return f.exp2(x[0]);
        case Elementwise::log2: return ir.CreateFMul(f.log(x[0]), f.number(1.44269504088896341));
        case Elementwise::sqrt: return f.sqrt(x[0]);
        case Elementwise::rsqrt: return f.rsqrt(x[0]);
        case Elementwise::tanh: return f.tanh(x[0]);
        case Elementwise::sigmoid: return f.sigmoid(x[0]);
        case Elementwise::relu: return f.maximum(x[0], f.number(0));
        case Elementwise::erf: return f.erf(x[0]);
        case Elementwise::sin: return sine(ir, x[0], 0);
        case Elementwise::cos: return sine(ir, x[0], 1);
        case Elementwise::sin_scaled: return scaled_sine(ir, x[0], x[1], x[2], 0);
        case Elementwise::cos_scaled: return scaled_sine(ir, x[0], x[1], x[2], 1);
        case Elementwise::pow: return power(ir, x[0], x[1]);
        case Elementwise::abs: return f.magnitude(x[0]);
        case Elementwise::sign: return f.sign(x[0]);
        case Elementwise::floor: return f.call(llvm::Intrinsic::floor, {x[0]});
        case Elementwise::ceil: return f.call(llvm::Intrinsic::ceil, {x[0]});
        case Elementwise::round: return f.call(llvm::Intrinsic::rint, {x[0]});
        case Elementwise::expm1: return f.expm1(x[0]);
        case Elementwise::log1p: return f.log1p(x[0]);
        case Elementwise::atan2: return f.atan2(x[0], x[1]);
        case Elementwise::exp_exponent: return f.exponent(x[0]);
        case Elementwise::exp_significand: return f.significand(x[0], f.exponent(x[0]));
        case Elementwise::tanh_of_exp:
            return ir.CreateFSub(f.number(1), ir.CreateFDiv(f.number(2), f.one_plus(x[0], x[1])));
        case Elementwise::sigmoid_of_exp: return f.reciprocal(f.one_plus(x[0], x[1]));
        case Elementwise::add: return ir.CreateFAdd(x[0], x[1]);
        case Elementwise::sub: return ir.CreateFSub(x[0], x[1]);
        case Elementwise::mul: return ir.CreateFMul(x[0], x[1]);
        case Elementwise::div: return ir.CreateFDiv(x[0], x[1]);
        case Elementwise::maximum: return f.maximum(x[0], x[1]);
        case Elementwise::minimum: return f.minimum(x[0], x[1]);
        case Elementwise::lt: return ir.CreateFCmpOLT(x[0], x[1]);
        case Elementwise::le: return ir.CreateFCmpOLE(x[0], x[1]);
        case Elementwise::eq: return ir.CreateFCmpOEQ(x[0], x[1]);
        default: return nullptr;
    }
}

}  // namespace

Value* whole_part(llvm::IRBuilder<>& ir, Value* x) {
    const auto number = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
    Value* held =
        ir.CreateAnd(ir.CreateFCmpOGE(x, number(-0x1p31)), ir.CreateFCmpOLT(x, number(0x1p31)));
    Value* whole = ir.CreateFPToSI(ir.CreateSelect(held, x, number(0)), ir.getInt32Ty());
    return ir.CreateSelect(held, whole, ir.getInt32(0x80000000U));
}

namespace {

/// Of i32, and eq of i1.
Value* of_integers(llvm::IRBuilder<>& ir, Elementwise function, const std::vector<Value*>& x) {
    const auto zero = [&] { return llvm::Constant::getNullValue(x[0]->getType()); };
    switch (function) {
        case Elementwise::neg: return ir.CreateNeg(x[0]);
        case Elementwise::abs:
            return ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x[0], ir.getFalse());
        case Elementwise::sign:
            return ir.CreateBinaryIntrinsic(
                llvm::Intrinsic::smin, llvm::ConstantInt::get(x[0]->getType(), 1),
                ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x[0],
                                         llvm::ConstantInt::getSigned(x[0]->getType(), -1)));
        case Elementwise::relu:
            return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x[0], zero());
        case Elementwise::add: return ir.CreateAdd(x[0], x[1]);
        case Elementwise::sub: return ir.CreateSub(x[0], x[1]);
        case Elementwise::mul: return ir.CreateMul(x[0], x[1]);
        case Elementwise::div: {
            llvm::Type* type = ir.getDoubleTy();
            return whole_part(
                ir, ir.CreateFDiv(ir.CreateSIToFP(x[0], type), ir.CreateSIToFP(x[1], type)));
        }
        case Elementwise::maximum:
            return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x[0], x[1]);
        case Elementwise::minimum:
            return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x[0], x[1]);
        case Elementwise::lt: return ir.CreateICmpSLT(x[0], x[1]);
        case Elementwise::le: return ir.CreateICmpSLE(x[0], x[1]);
        case Elementwise::eq: return ir.CreateICmpEQ(x[0], x[1]);
        default: return nullptr;
    }
}

}  // namespace

Value* float_constant(llvm::IRBuilder<>& ir, double value) {
    return llvm::ConstantFP::get(ir.getContext(), llvm::APFloat(float(value)));
}

Value* elementwise(llvm::IRBuilder<>& ir, Elementwise function, const std::vector<Value*>& x) {
    switch (function) {
        case Elementwise::identity: return x[0];
        case Elementwise::where: return ir.CreateSelect(x[0], x[1], x[2]);
        case Elementwise::logical_not: return ir.CreateNot(x[0]);
        case Elementwise::logical_and: return ir.CreateAnd(x[0], x[1]);
        case Elementwise::logical_or: return ir.CreateOr(x[0], x[1]);
        default: break;
    }
    Value* result =
        x[0]->getType()->isFloatTy() ? of_floats(ir, function, x) : of_integers(ir, function, x);
    if (!result)
        throw InternalError("no instructions for " + std::string(row_of(function).name) +
                            " of this type");
    return result;
}

}  // namespace fovea::emit::nvptx
