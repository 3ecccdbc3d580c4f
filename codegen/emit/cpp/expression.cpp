// The spelling table of C++, and the little that expressions need around it.
#include "codegen/emit/cpp/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "codegen/base/error.h"
#include "codegen/base/text.h"
#include "codegen/emit/cpp/signature.h"

namespace fovea::emit {
namespace {

enum class Notation { call, prefix, infix, pass };

/// One row per elementwise function: `vector` and `scalar` are the operator or the function's name.
struct Spelling {
    Elementwise function;
    Notation form;
    Binding binding;
    const char* vector;
    const char* scalar;
    bool expensive;
};

constexpr Spelling kSpellings[] = {
    {Elementwise::identity, Notation::pass, Binding::primary, "", "", false},
    {Elementwise::neg, Notation::prefix, Binding::unary, "-", "-", false},
    {Elementwise::exp, Notation::call, Binding::primary, "exp", "exp", true},
    {Elementwise::log, Notation::call, Binding::primary, "log", "log", true},
    {Elementwise::exp2, Notation::call, Binding::primary, "exp2", "exp2", true},
    {Elementwise::log2, Notation::call, Binding::primary, "log2", "log2", true},
    {Elementwise::sqrt, Notation::call, Binding::primary, "sqrt", "sqrt", true},
    {Elementwise::rsqrt, Notation::call, Binding::primary, "rsqrt", "rsqrt", true},
    {Elementwise::tanh, Notation::call, Binding::primary, "tanh", "tanh", true},
    {Elementwise::sigmoid, Notation::call, Binding::primary, "sigmoid", "sigmoid", true},
    {Elementwise::relu, Notation::call, Binding::primary, "relu", "relu", false},
    {Elementwise::erf, Notation::call, Binding::primary, "erf", "erf", true},
    {Elementwise::sin, Notation::call, Binding::primary, "sin", "sin", true},
    {Elementwise::cos, Notation::call, Binding::primary, "cos", "cos", true},
    {Elementwise::exp_exponent, Notation::call, Binding::primary, "exp_exponent", "exp_exponent",
     true},
    {Elementwise::exp_significand, Notation::call, Binding::primary, "exp_significand",
     "exp_significand", true},
    {Elementwise::logical_not, Notation::prefix, Binding::unary, "~", "!", false},
    {Elementwise::abs, Notation::call, Binding::primary, "abs", "abs", false},
    {Elementwise::sign, Notation::call, Binding::primary, "sign", "sign", false},
    {Elementwise::floor, Notation::call, Binding::primary, "floor", "floor", false},
    {Elementwise::ceil, Notation::call, Binding::primary, "ceil", "ceil", false},
    {Elementwise::round, Notation::call, Binding::primary, "round", "round", false},
    {Elementwise::expm1, Notation::call, Binding::primary, "expm1", "expm1", true},
    {Elementwise::log1p, Notation::call, Binding::primary, "log1p", "log1p", true},
    {Elementwise::add, Notation::infix, Binding::sum, "+", "+", false},
    {Elementwise::sub, Notation::infix, Binding::sum, "-", "-", false},
    {Elementwise::mul, Notation::infix, Binding::product, "*", "*", false},
    {Elementwise::div, Notation::infix, Binding::product, "/", "/", true},
    {Elementwise::maximum, Notation::call, Binding::primary, "maximum", "maximum", false},
    {Elementwise::minimum, Notation::call, Binding::primary, "minimum", "minimum", false},
    {Elementwise::pow, Notation::call, Binding::primary, "pow", "pow", true},
    {Elementwise::atan2, Notation::call, Binding::primary, "atan2", "atan2", true},
    {Elementwise::tanh_of_exp, Notation::call, Binding::primary, "tanh_of_exp", "tanh_of_exp",
     true},
    {Elementwise::sigmoid_of_exp, Notation::call, Binding::primary, "sigmoid_of_exp",
     "sigmoid_of_exp", true},
    {Elementwise::sin_scaled, Notation::call, Binding::primary, "sin_scaled", "sin_scaled", true},
    {Elementwise::cos_scaled, Notation::call, Binding::primary, "cos_scaled", "cos_scaled", true},
    {Elementwise::lt, Notation::infix, Binding::comparison, "<", "<", false},
    {Elementwise::le, Notation::infix, Binding::comparison, "<=", "<=", false},
    {Elementwise::eq, Notation::infix, Binding::comparison, "==", "==", false},
    {Elementwise::logical_and, Notation::infix, Binding::logic, "&", "&&", false},
    {Elementwise::logical_or, Notation::infix, Binding::logic, "|", "||", false},
    {Elementwise::where, Notation::call, Binding::primary, "select", "select", false},
};

const Spelling& spelling_of(Elementwise function) {
    for (const Spelling& spelling : kSpellings)
        if (spelling.function == function) return spelling;
    throw InternalError("no C++ spelling for " + std::string(row_of(function).name));
}

Binding tighter(Binding binding) {
    return binding == Binding::primary ? binding : Binding(int(binding) + 1);
}

}  // namespace

std::string Expression::in(Binding least) const {
    return int(binding) >= int(least) ? text : "(" + text + ")";
}

Expression operator+(const Expression& a, const Expression& b) {
    if (b.text == "0") return a;
    if (a.text == "0") return b;
    return {a.in(Binding::sum) + " + " + b.in(Binding::product), Binding::sum};
}

Expression operator*(const Expression& a, const Expression& b) {
    if (b.text == "1") return a;
    if (a.text == "1") return b;
    return {a.in(Binding::product) + " * " + b.in(Binding::unary), Binding::product};
}

Expression at_offset(const std::string& pointer, const Expression& offset) {
    if (offset.text == "0") return {pointer};
    return {pointer + " + " + offset.text, Binding::sum};
}

Expression spell(const Dim& dim) {
    Expression result{"0"};
    for (const DimTerm& term : dim.terms()) {
        if (!term.factor) continue;
        Expression product{"1"};
        for (Symbol symbol : term.symbols) {
            if (!symbol) break;
            Text name;
            name << symbol;
            product = product * Expression{dim_name(std::string(name.view()))};
        }
        result = result + product * Expression{std::to_string(term.factor)};
    }
    if (dim.constant() < 0 && !dim.is_static())
        return {result.text + " - " + std::to_string(-dim.constant()), Binding::sum};
    const std::string constant = std::to_string(dim.constant());
    return result + Expression{constant, dim.constant() < 0 ? Binding::unary : Binding::primary};
}

Expression spell_float(double value) {
    const float number = float(value);
    if (std::isnan(number)) return {"__builtin_nanf(\"\")"};
    if (std::isinf(number) && number < 0) return {"kLowest"};
    if (std::isinf(number)) return {"-kLowest", Binding::unary};
    std::string text = fmt::format("{}", number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return {text + "F", value < 0 ? Binding::unary : Binding::primary};
}

Expression spell_integer(double value) {
    return {fmt::format("{}", std::int64_t(value)), value < 0 ? Binding::unary : Binding::primary};
}

Expression spell(Elementwise function, const std::vector<Expression>& operands, bool vectors) {
    const Spelling& spelling = spelling_of(function);
    const std::string name = vectors ? spelling.vector : spelling.scalar;
    if (spelling.form == Notation::pass) return operands[0];
    if (spelling.form == Notation::prefix)
        return {name + operands[0].in(tighter(Binding::unary)), Binding::unary};
    if (spelling.form == Notation::infix) {
        // Comparisons and logic never stand bare inside each other.
        const bool strict = int(spelling.binding) <= int(Binding::comparison);
        const Binding left = strict ? Binding::sum : spelling.binding;
        const Binding right = strict ? Binding::sum : tighter(spelling.binding);
        return {operands[0].in(left) + " " + name + " " + operands[1].in(right), spelling.binding};
    }
    std::string text = name + "(";
    for (std::size_t i = 0; i < operands.size(); ++i) text += (i ? ", " : "") + operands[i].text;
    return {text + ")"};
}

bool is_expensive(Elementwise function) { return spelling_of(function).expensive; }

bool calls_expensive(const std::string& code) {
    if (mentions(code, "dropout_lanes")) return true;
    return std::any_of(std::begin(kSpellings), std::end(kSpellings), [&](const Spelling& spelling) {
        return spelling.expensive && spelling.form == Notation::call &&
               mentions(code, spelling.vector);
    });
}

bool is_long(const std::string& code) {
    constexpr int kMostCalls = 16;
    int calls = 0;
    for (std::size_t i = 1; i < code.size(); ++i)
        calls += code[i] == '(' &&
                 (std::isalnum(static_cast<unsigned char>(code[i - 1])) || code[i - 1] == '>');
    return calls > kMostCalls || calls_expensive(code);
}

bool is_operator(Elementwise function) {
    const Notation form = spelling_of(function).form;
    return form == Notation::infix || form == Notation::prefix;
}

}  // namespace fovea::emit
