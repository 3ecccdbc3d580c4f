// Sizes that are known when a program is bound to its dims: polynomials in the dims of a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea::runtime {

/// A sum of products of dims, with integer coefficients: `64 * batch * src_len + 1`.
/// Dims are numbered as in `Model::dims`.
class Extent {
  public:
    struct Term {
        std::int64_t factor = 0;
        std::vector<int> dims;  // sorted; empty for the constant term
    };

    Extent(std::int64_t value = 0);
    /// The dim with this number.
    static Extent dim(int number);

    /// Its value; `dims[i]` is the value of dim i.
    std::int64_t value(std::span<const std::int64_t> dims) const;
    bool is_constant() const;
    /// The dim that this extent is, bare (factor 1, nothing added), or -1.
    int as_dim() const;
    const std::vector<Term>& terms() const { return terms_; }
    /// `64*batch*src_len+1`, with the names given.
    std::string text(std::span<const std::string> names) const;

    /// Adds a term, whose dims may stand in any order.
    void add(Term term);

    friend Extent operator+(const Extent& a, const Extent& b);
    friend Extent operator*(const Extent& a, const Extent& b);

  private:
    std::vector<Term> terms_;
};

}  // namespace fovea::runtime
