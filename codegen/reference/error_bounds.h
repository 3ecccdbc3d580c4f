// How far float32 arithmetic may be from the reference: a running error analysis.
//
// Each value of the interpreter gets a bound on the error that a computation in float32 of the same
// expression has, in any order of its sums (Higham 2002, "Accuracy and stability of numerical
// algorithms", sections 3.1 and 4.2): what its operands' errors become, and the rounding of the op
// itself. A comparison whose sides are closer than their errors may go the other way; what it
// chooses may then be either. What the interpreter rounds to bfloat16, float16 or tf32 may become
// a neighbour of its value there, and a kernel may go on with what it has not rounded.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "codegen/reference/interpreter.h"

namespace fovea {

class ErrorBounds {
  public:
    /// `unit` is the relative error of one rounding, 2^-24 in float32.
    explicit ErrorBounds(Interpreter& reference, double unit = 0x1p-24);

    /// The bound for each element of the value of a node of the interpreter's graph; infinite where
    /// there is none.
    const Array& of(int id);
    /// That of an output; UserError when there is none of this name.
    const Array& of_output(std::string_view name);
    /// Counts the terms of a sum that are not 0: then bounds are equal of values that the same
    /// numbers come into, however many zeros are added to them. What a rounding decides, as a
    /// comparison of close values, has none: it tells nothing of values.
    void ignore_lengths() { counts_terms_ = false; }
    /// Takes these for the errors of an input or a parameter, which have none otherwise.
    void set(const std::string& name, Array bound);
    /// Takes this for the bound of a node; what is known already of others stays.
    void assume(int id, Array bound) { bounds_[std::size_t(id)] = std::move(bound); }

  private:
    /// Of a part of a graph, which the interpreter does not round; `factors` is what kernels round
    /// to there.
    ErrorBounds(Interpreter& part, double unit, const NumberFormat* factors);
    /// That of a part, computed by the same rules.
    ErrorBounds of_part(Interpreter& part) const;
    /// `sums`, each times the roundings that it has and `more`; of `terms` terms, or of those of
    /// the operands that are not 0.
    void round_sums(Array& sums, int id, double terms, std::vector<const Array*> operands,
                    double more = 0) const;

    void forget();
    Array evaluate(int id);
    void leave_out_infinite(int id);
    Array elementwise(int id);
    Array einsum(int id);
    Array reduce(int id);
    /// Values that are moved, or added with those of other places, take their errors with them.
    Array of_numbers(int id);
    Array moved(int id);
    Array scatter_add(int id);
    Array body(int id);
    void scan(int id);

    Array like(int id) const;
    /// The op's own semantics on other operands.
    Array apply(int id, const std::vector<const Array*>& operands) const;
    const Array& operand_value(int id, int i);
    const Array& operand_bound(int id, int i);
    /// Of an operand of an einsum, behind the rounding to what it multiplies.
    Array factor_bound(int id, int i);

    Interpreter& reference_;
    double unit_;
    bool counts_terms_ = true;
    const NumberFormat* factors_;  // what operands of einsums are rounded to, or null
    std::vector<std::optional<Array>> bounds_;
    std::map<std::string, Array> given_;
};

}  // namespace fovea
