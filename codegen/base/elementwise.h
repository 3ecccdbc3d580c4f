// The elementwise functions, one row each: shared by the graph, the kernels and the emitters.
//
// Adding one: a row here, its gradient in ops/elementwise.cpp, its spelling in each emitter's
// table.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "codegen/base/dtype.h"
#include "codegen/base/number_format.h"

namespace fovea {

enum class Elementwise : unsigned char {
    identity,
    neg,
    exp,
    log,
    exp2,
    log2,
    sqrt,
    rsqrt,
    tanh,
    sigmoid,
    relu,
    erf,
    sin,
    cos,
    exp_exponent,
    exp_significand,
    logical_not,
    abs,
    sign,
    floor,
    ceil,
    round,
    expm1,
    log1p,
    add,
    sub,
    mul,
    div,
    maximum,
    minimum,
    pow,
    atan2,
    tanh_of_exp,
    sigmoid_of_exp,
    sin_scaled,
    cos_scaled,
    lt,
    le,
    eq,
    logical_and,
    logical_or,
    where,
};

/// What an element costs to compute.
enum class Cost : unsigned char {
    none,    // nothing: a number, a position, a value that is there
    one,     // an instruction
    few,     // some
    many,    // tens: a transcendental function, a random number
    sums,    // as many as it adds up
    memory,  // it lies in memory, or comes from there
};

/// What operands a model may give a function. A condition that chooses is apart from this.
enum class Takes : unsigned char { floats, numbers, booleans, any };

/// The types that kernels compute a function in.
enum class Works : unsigned char { floats, numbers, any };

/// `boolean` results come from comparisons and logic; the others keep their operands' type. NaN
/// stays NaN, in relu, maximum and minimum too, and has the sign 0, as in PyTorch. `round` goes to
/// the even one of two numbers that are as near.
struct ElementwiseRow {
    Elementwise function;
    std::string_view name;  // PyTorch's
    int arity;
    bool gives_boolean;
    Cost cost;
    Takes takes;
    Works works;
    double (*value)(double, double, double);  // unused arguments are 0; booleans are 0 and 1

    /// The name as the literal that it is.
    constexpr const char* literal() const { return name.data(); }
};

/// What i32 makes of a number: its whole part, and the smallest i32 of what it cannot hold.
inline double whole_part(double x) {
    const double whole = std::trunc(x);
    return whole >= -2147483648.0 && whole <= 2147483647.0 ? whole : -2147483648.0;
}

inline constexpr double kLn2 = 0.6931471805599453;

/// e^x is exp_significand(x) * 2^exp_exponent(x), with a whole exponent. The functions of m and n
/// are tanh x for m * 2^n = e^2x, and sigmoid x for m * 2^n = e^-x: kernels take sums in x apart
/// (codegen/kernel/rewrites/split_exponentials.h). `sin_scaled` is sin(x 2^(y + z)), whose angle is
/// never a float: positions times frequencies lose no digits, however large (rotary.h).
inline constexpr ElementwiseRow kElementwise[] = {
    {Elementwise::identity, "identity", 1, false, Cost::few, Takes::any, Works::any,
     [](double x, double, double) { return x; }},
    {Elementwise::neg, "neg", 1, false, Cost::one, Takes::numbers, Works::numbers,
     [](double x, double, double) { return -x; }},
    {Elementwise::exp, "exp", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::exp(x); }},
    {Elementwise::log, "log", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::log(x); }},
    {Elementwise::exp2, "exp2", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::exp2(x); }},
    {Elementwise::log2, "log2", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::log2(x); }},
    {Elementwise::sqrt, "sqrt", 1, false, Cost::few, Takes::floats, Works::floats,
     [](double x, double, double) { return std::sqrt(x); }},
    {Elementwise::rsqrt, "rsqrt", 1, false, Cost::few, Takes::floats, Works::floats,
     [](double x, double, double) { return 1 / std::sqrt(x); }},
    {Elementwise::tanh, "tanh", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::tanh(x); }},
    {Elementwise::sigmoid, "sigmoid", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {Elementwise::relu, "relu", 1, false, Cost::few, Takes::floats, Works::numbers,
     [](double x, double, double) { return x <= 0 ? 0 : x; }},
    {Elementwise::erf, "erf", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::erf(x); }},
    {Elementwise::sin, "sin", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::sin(x); }},
    {Elementwise::cos, "cos", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::cos(x); }},
    {Elementwise::exp_exponent, "exp_exponent", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::nearbyint(x / kLn2); }},
    {Elementwise::exp_significand, "exp_significand", 1, false, Cost::many, Takes::floats,
     Works::floats,
     [](double x, double, double) { return std::exp(x - kLn2 * std::nearbyint(x / kLn2)); }},
    {Elementwise::logical_not, "logical_not", 1, true, Cost::few, Takes::booleans, Works::any,
     [](double x, double, double) { return double(x == 0); }},
    {Elementwise::abs, "abs", 1, false, Cost::one, Takes::numbers, Works::numbers,
     [](double x, double, double) { return std::fabs(x); }},
    {Elementwise::sign, "sign", 1, false, Cost::few, Takes::numbers, Works::numbers,
     [](double x, double, double) { return double(x > 0) - double(x < 0); }},
    {Elementwise::floor, "floor", 1, false, Cost::few, Takes::floats, Works::floats,
     [](double x, double, double) { return std::floor(x); }},
    {Elementwise::ceil, "ceil", 1, false, Cost::few, Takes::floats, Works::floats,
     [](double x, double, double) { return std::ceil(x); }},
    {Elementwise::round, "round", 1, false, Cost::few, Takes::floats, Works::floats,
     [](double x, double, double) { return std::nearbyint(x); }},
    {Elementwise::expm1, "expm1", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::expm1(x); }},
    {Elementwise::log1p, "log1p", 1, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double, double) { return std::log1p(x); }},
    {Elementwise::add, "add", 2, false, Cost::one, Takes::numbers, Works::numbers,
     [](double x, double y, double) { return x + y; }},
    {Elementwise::sub, "sub", 2, false, Cost::one, Takes::numbers, Works::numbers,
     [](double x, double y, double) { return x - y; }},
    {Elementwise::mul, "mul", 2, false, Cost::one, Takes::numbers, Works::numbers,
     [](double x, double y, double) { return x * y; }},
    {Elementwise::div, "div", 2, false, Cost::few, Takes::numbers, Works::numbers,
     [](double x, double y, double) { return x / y; }},
    {Elementwise::maximum, "maximum", 2, false, Cost::few, Takes::numbers, Works::numbers,
     [](double x, double y, double) { return x > y || x != x ? x : y; }},
    {Elementwise::minimum, "minimum", 2, false, Cost::few, Takes::numbers, Works::numbers,
     [](double x, double y, double) { return x < y || x != x ? x : y; }},
    {Elementwise::pow, "pow", 2, false, Cost::many, Takes::numbers, Works::floats,
     [](double x, double y, double) { return std::pow(x, y); }},
    {Elementwise::atan2, "atan2", 2, false, Cost::many, Takes::floats, Works::floats,
     [](double y, double x, double) { return std::atan2(y, x); }},
    {Elementwise::tanh_of_exp, "tanh_of_exp", 2, false, Cost::many, Takes::floats, Works::floats,
     [](double m, double n, double) { return 1 - 2 / (1 + m * std::exp2(n)); }},
    {Elementwise::sigmoid_of_exp, "sigmoid_of_exp", 2, false, Cost::many, Takes::floats,
     Works::floats, [](double m, double n, double) { return 1 / (1 + m * std::exp2(n)); }},
    {Elementwise::sin_scaled, "sin_scaled", 3, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double y, double z) { return std::sin(x * std::exp2(y + z)); }},
    {Elementwise::cos_scaled, "cos_scaled", 3, false, Cost::many, Takes::floats, Works::floats,
     [](double x, double y, double z) { return std::cos(x * std::exp2(y + z)); }},
    {Elementwise::lt, "lt", 2, true, Cost::few, Takes::numbers, Works::numbers,
     [](double x, double y, double) { return double(x < y); }},
    {Elementwise::le, "le", 2, true, Cost::few, Takes::numbers, Works::numbers,
     [](double x, double y, double) { return double(x <= y); }},
    {Elementwise::eq, "eq", 2, true, Cost::few, Takes::numbers, Works::any,
     [](double x, double y, double) { return double(x == y); }},
    {Elementwise::logical_and, "logical_and", 2, true, Cost::few, Takes::booleans, Works::any,
     [](double x, double y, double) { return double(x != 0 && y != 0); }},
    {Elementwise::logical_or, "logical_or", 2, true, Cost::few, Takes::booleans, Works::any,
     [](double x, double y, double) { return double(x != 0 || y != 0); }},
    {Elementwise::where, "where", 3, false, Cost::few, Takes::any, Works::any,
     [](double c, double x, double y) { return c != 0 ? x : y; }},
};

constexpr const ElementwiseRow& row_of(Elementwise function) { return kElementwise[int(function)]; }

/// A whole number in i32, which wraps around as two's complement does.
inline double wrapped(std::int64_t whole) { return double(std::int32_t(std::uint32_t(whole))); }

/// A number as a value of another type.
inline double converted(double x, DType type) {
    switch (type) {
        case DType::i32: return whole_part(x);
        case DType::boolean: return double(x != 0);
        case DType::bf16:
        case DType::f16: return format_of(type).nearest(x);
        default: return x;
    }
}

/// f(x, y, z) of other types.
inline double plain_value(Elementwise function, double x, double y, double z) {
    return row_of(function).value(x, y, z);
}

/// f(x, y, z) of i32: sums, differences and products wrap around, quotients are whole parts.
inline double whole_value(Elementwise function, double x, double y, double z) {
    constexpr double kExact = 0x1p53;
    if (!(std::fabs(x) < kExact && std::fabs(y) < kExact))
        return whole_part(row_of(function).value(x, y, z));
    const auto a = std::int64_t(x), b = std::int64_t(y);
    switch (function) {
        case Elementwise::neg: return wrapped(-a);
        case Elementwise::abs: return wrapped(a < 0 ? -a : a);
        case Elementwise::add: return wrapped(a + b);
        case Elementwise::sub: return wrapped(a - b);
        case Elementwise::mul: return wrapped(std::int64_t(std::uint64_t(a) * std::uint64_t(b)));
        default: return whole_part(row_of(function).value(x, y, z));
    }
}

constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < std::size(kElementwise); ++i)
        if (std::size_t(kElementwise[i].function) != i) return false;
    return true;
}
static_assert(rows_are_in_order());

}  // namespace fovea
