// float and double. The approximate functions of the hardware are computed to full precision.
#include <cmath>
#include <limits>

#include "codegen/ptx/instructions/arithmetic.h"
#include "codegen/ptx/instructions/half.h"

namespace fovea::ptx {
namespace {

struct Add {
    template <class T>
    T operator()(T a, T b) const {
        return a + b;
    }
};
struct Subtract {
    template <class T>
    T operator()(T a, T b) const {
        return a - b;
    }
};
struct Multiply {
    template <class T>
    T operator()(T a, T b) const {
        return a * b;
    }
};
struct Divide {
    template <class T>
    T operator()(T a, T b) const {
        return a / b;
    }
};
struct MultiplyAdd {
    template <class T>
    T operator()(T a, T b, T c) const {
        return std::fma(a, b, c);
    }
};
struct Negate {
    template <class T>
    T operator()(T a) const {
        return -a;
    }
};
struct Absolute {
    template <class T>
    T operator()(T a) const {
        return std::fabs(a);
    }
};
struct CopySign {
    template <class T>
    T operator()(T sign, T magnitude) const {
        return std::copysign(magnitude, sign);
    }
};
struct Reciprocal {
    template <class T>
    T operator()(T a) const {
        return T(1) / a;
    }
};
struct SquareRoot {
    template <class T>
    T operator()(T a) const {
        return std::sqrt(a);
    }
};
struct ReciprocalRoot {
    template <class T>
    T operator()(T a) const {
        return T(1 / std::sqrt(double(a)));
    }
};
struct Exp2 {
    template <class T>
    T operator()(T a) const {
        return std::exp2(a);
    }
};
struct Log2 {
    template <class T>
    T operator()(T a) const {
        return std::log2(a);
    }
};
struct Sine {
    template <class T>
    T operator()(T a) const {
        return std::sin(a);
    }
};
struct Cosine {
    template <class T>
    T operator()(T a) const {
        return std::cos(a);
    }
};
struct HyperbolicTangent {
    template <class T>
    T operator()(T a) const {
        return std::tanh(a);
    }
};
struct Saturate {
    template <class T>
    T operator()(T a) const {
        return a > 0 ? (a < 1 ? a : T(1)) : T(0);
    }
};

/// Subnormal numbers count as zeros, in operands and results.
template <class F>
struct Flushed {
    static float flush(float a) {
        return std::fabs(a) < std::numeric_limits<float>::min() ? std::copysign(0.0f, a) : a;
    }
    template <class... T>
    float operator()(T... operands) const {
        return flush(F{}(flush(operands)...));
    }
};

/// Functions that the host computes one at a time: only the lanes of the mask.
template <class T, class F>
void slow_unary(Warp& warp, const Op& op, Mask mask) {
    const T* a = warp.lanes<T>(op.source());
    T* to = warp.lanes<T>(op.result());
    for_lanes(mask, [&](int lane) { to[lane] = F{}(a[lane]); });
}

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2,fma")]] void multiply_add_lanes(const T* a, const T* b, const T* c, T* to) {
    for (int lane = 0; lane < kLanes; ++lane) {
        if constexpr (sizeof(T) == 4) to[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
        else to[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
    }
}

/// With the processor's instruction, where it has one.
template <class T>
void multiply_add(Warp& warp, const Op& op, Mask mask) {
    static const bool has_fma = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
    if (!has_fma) return ternary<T, MultiplyAdd>(warp, op, mask);
    T values[kLanes];
    multiply_add_lanes(warp.lanes<T>(op.source(0)), warp.lanes<T>(op.source(1)),
                       warp.lanes<T>(op.source(2)), values);
    store_lanes(warp.lanes<T>(op.result()), values, mask);
}
#else
template <class T>
void multiply_add(Warp& warp, const Op& op, Mask mask) {
    ternary<T, MultiplyAdd>(warp, op, mask);
}
#endif

struct Row {
    std::size_t sources;
    Handler f32, f32_flushed, f64;
};

template <class F>
Row unary_row() {
    return {1, unary<float, F>, unary<float, Flushed<F>>, unary<double, F>};
}
template <class F>
Row slow_row() {
    return {1, slow_unary<float, F>, slow_unary<float, Flushed<F>>, slow_unary<double, F>};
}
template <class F>
Row binary_row() {
    return {2, binary<float, F>, binary<float, Flushed<F>>, binary<double, F>};
}

const std::map<std::string_view, Row>& rows() {
    static const Row fused{3, multiply_add<float>, ternary<float, Flushed<MultiplyAdd>>,
                           multiply_add<double>};
    static const std::map<std::string_view, Row> table = {
        {"add", binary_row<Add>()},
        {"sub", binary_row<Subtract>()},
        {"mul", binary_row<Multiply>()},
        {"div", binary_row<Divide>()},
        {"min", binary_row<Smallest>()},
        {"max", binary_row<Largest>()},
        {"min.NaN", binary_row<Propagating<Smallest>>()},
        {"max.NaN", binary_row<Propagating<Largest>>()},
        {"copysign", binary_row<CopySign>()},
        {"fma", fused},
        {"mad", fused},
        {"neg", unary_row<Negate>()},
        {"abs", unary_row<Absolute>()},
        {"rcp", unary_row<Reciprocal>()},
        {"sqrt", unary_row<SquareRoot>()},
        {"rsqrt", unary_row<ReciprocalRoot>()},
        {"ex2", slow_row<Exp2>()},
        {"lg2", slow_row<Log2>()},
        {"sin", slow_row<Sine>()},
        {"cos", slow_row<Cosine>()},
        {"tanh", slow_row<HyperbolicTangent>()},
    };
    return table;
}

void decode_function(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    decode_floating(decoder, instruction, modifiers, modifiers.type());
}

/// Whether a number is of a kind.
template <class T>
void test_property(Warp& warp, const Op& op, Mask mask) {
    const T* a = warp.lanes<T>(op.source());
    Mask holds = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const int kind = std::fpclassify(a[lane]);
        const bool finite = kind != FP_NAN && kind != FP_INFINITE;
        const bool is[] = {finite,         kind == FP_INFINITE, finite || kind == FP_INFINITE,
                           kind == FP_NAN, kind == FP_NORMAL,   kind == FP_SUBNORMAL};
        holds |= Mask(is[op.immediate]) << lane;
    }
    Mask& to = warp.mask(op.result());
    to = (to & ~mask) | (holds & mask);
}

void decode_property(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto property =
        modifiers.take_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
    if (!property) decoder.fail("testp names no property");
    const Type type = modifiers.type();
    decoder.require(instruction, 2);
    decoder
        .emit(instruction, type == Type::f32 ? test_property<float> : test_property<double>,
              {decoder.result(instruction.operands[0], Type::pred)},
              {decoder.source(instruction.operands[1], type)})
        .immediate = std::int64_t(*property);
}

}  // namespace

void decode_floating(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers,
                     Type type) {
    if (type != Type::f32 && type != Type::f64)
        return decode_half(decoder, instruction, modifiers, type);
    modifiers.ignore({"rn", "approx", "full"});
    const bool flushed = modifiers.take("ftz"), saturated = modifiers.take("sat");
    const auto row =
        rows().find(modifiers.take("NaN") ? instruction.opcode + ".NaN" : instruction.opcode);
    if (row == rows().end()) decoder.fail(instruction.spelling() + " is not interpreted");
    const Handler run = type == Type::f64 ? row->second.f64
                        : flushed         ? row->second.f32_flushed
                                          : row->second.f32;
    emit_same(decoder, instruction, run, type, row->second.sources);
    if (!saturated) return;
    const Slot result = decoder.result(instruction.operands[0], type);
    decoder.emit(instruction, type == Type::f32 ? unary<float, Saturate> : nullptr, {result},
                 {result});
}

void add_floating(OpcodeTable& table) {
    for (const char* opcode :
         {"fma", "copysign", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"})
        table[opcode] = decode_function;
    table["testp"] = decode_property;
}

}  // namespace fovea::ptx
