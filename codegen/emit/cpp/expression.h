// C++ expressions as text that knows how tightly it binds.
#pragma once

#include <string>
#include <vector>

#include "codegen/base/dim.h"
#include "codegen/base/elementwise.h"

namespace fovea::emit {

/// How tightly the outermost operator binds.
enum class Binding { logic, comparison, sum, product, unary, primary };

struct Expression {
    std::string text;
    Binding binding = Binding::primary;

    /// The text, in parentheses unless it binds at least as tightly as `least`.
    std::string in(Binding least) const;
};

Expression operator+(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Expression& b);
/// `pointer + offset`: a sum needs no parentheses behind a pointer.
Expression at_offset(const std::string& pointer, const Expression& offset);

/// A size in terms of its symbols: `batch * src_len * 64 + 1`.
Expression spell(const Dim& dim);

/// A number as a float or an i32.
Expression spell_float(double value);
Expression spell_integer(double value);

/// `function` of operands that have one type; `vectors` says whether they are 16 lanes.
Expression spell(Elementwise function, const std::vector<Expression>& operands, bool vectors);

/// Whether the machine takes many instructions for it: worth keeping rather than repeating.
bool is_expensive(Elementwise function);
/// Whether code, as `spell` and kernels write it, has such a function of vectors, or dropout.
bool calls_expensive(const std::string& code);
/// Whether it has so many functions that register tiles are to have one copy of it, since compilers
/// take minutes for one a vector: one expensive function, or more than 16.
bool is_long(const std::string& code);
/// Whether `spell` needs all operands as vectors (functions), or takes scalars too (operators).
bool is_operator(Elementwise function);

}  // namespace fovea::emit
