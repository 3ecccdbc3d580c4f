// Dims of more terms than a Dim has room for: sums of any length, each kept once. The part of dim.h
// that runs with the program only, never while compiling.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "codegen/base/dim.h"
#include "codegen/base/error.h"

namespace fovea {

struct LongDim {
    std::int64_t constant = 0;
    std::vector<DimTerm> terms{};  // in the order of their symbols; none is of factor 0

    auto key() const {
        std::vector<std::pair<std::vector<Symbol>, std::int64_t>> parts;
        for (const DimTerm& term : terms) parts.emplace_back(term.symbols, term.factor);
        return std::pair(constant, parts);
    }
    bool operator<(const LongDim& other) const { return key() < other.key(); }
};

namespace detail {

/// Sums of terms while they are computed. What leaves 63 bits is noted.
class DimSum {
  public:
    void add(const DimTerm& term, std::int64_t times = 1) {
        std::int64_t factor = 0;
        overflows |= __builtin_mul_overflow(term.factor, times, &factor);
        std::int64_t& sum = term.symbols.empty() ? constant_ : factors_[term.symbols];
        overflows |= __builtin_add_overflow(sum, factor, &sum);
    }
    void add(std::int64_t constant) { add({constant, {}}); }
    LongDim sum() const {
        LongDim result{constant_, {}};
        for (const auto& [symbols, factor] : factors_)
            if (factor) result.terms.push_back({factor, symbols});
        return result;
    }
    bool overflows = false;

  private:
    std::int64_t constant_ = 0;
    std::map<std::vector<Symbol>, std::int64_t> factors_;
};

inline const LongDim* kept_dim(const LongDim& dim) {
    static std::mutex mutex;
    static auto& dims = *new std::set<LongDim>;
    const std::lock_guard lock(mutex);
    return &*dims.insert(dim).first;
}

inline DimTerm product(const DimTerm& a, const DimTerm& b, bool& overflows) {
    DimTerm result{0, a.symbols};
    overflows |= __builtin_mul_overflow(a.factor, b.factor, &result.factor);
    result.symbols.insert(result.symbols.end(), b.symbols.begin(), b.symbols.end());
    std::sort(result.symbols.begin(), result.symbols.end());
    return result;
}

/// a / b, where b's symbols are among a's and the factor divides a's; factor 0 where they are not.
inline DimTerm quotient(const DimTerm& a, const DimTerm& b) {
    DimTerm result{a.factor % b.factor ? 0 : a.factor / b.factor, {}};
    const bool inside =
        std::includes(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end());
    if (!inside) return {};
    std::set_difference(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(),
                        std::back_inserter(result.symbols));
    return result;
}

/// All terms of a dim, the constant among them.
inline std::vector<DimTerm> all_terms(const Dim& dim) {
    std::vector<DimTerm> terms = dim.terms();
    if (dim.constant()) terms.push_back({dim.constant(), {}});
    return terms;
}

/// a / b by the leading terms, for a b of several; nothing where that leaves a rest.
inline bool divide(const Dim& a, const Dim& b, DimSum& quotient_sum) {
    const std::vector<DimTerm> by = all_terms(b);
    const auto larger = [](const DimTerm& x, const DimTerm& y) {
        return std::pair(x.symbols.size(), x.symbols) < std::pair(y.symbols.size(), y.symbols);
    };
    if (by.empty()) return false;
    const DimTerm& leading = *std::max_element(by.begin(), by.end(), larger);
    Dim rest = a;
    while (!(rest == Dim(0))) {
        const std::vector<DimTerm> terms = all_terms(rest);
        const DimTerm part =
            quotient(*std::max_element(terms.begin(), terms.end(), larger), leading);
        if (!part.factor) return false;
        quotient_sum.add(part);
        DimSum next;
        for (const DimTerm& term : terms) next.add(term);
        for (const DimTerm& term : by) next.add(product(part, term, next.overflows), -1);
        if (next.overflows) return false;
        rest = Dim::from(next.sum());
    }
    return true;
}

}  // namespace detail

inline std::vector<DimTerm> Dim::terms() const {
    if (long_) return long_->terms;
    std::vector<DimTerm> terms;
    for (const ShortTerm& term : terms_) {
        if (!term.factor) continue;
        terms.push_back({term.factor, {}});
        for (const Symbol& symbol : term.symbols)
            if (symbol) terms.back().symbols.push_back(symbol);
    }
    return terms;
}

inline Dim Dim::from(const LongDim& sum) {
    Dim dim(sum.constant);
    const bool is_short =
        sum.terms.size() <= 2 && std::all_of(sum.terms.begin(), sum.terms.end(),
                                             [](const auto& t) { return t.symbols.size() <= 3; });
    if (!is_short) {
        dim.long_ = detail::kept_dim(sum);
        return dim;
    }
    for (const DimTerm& term : sum.terms) {
        ShortTerm own{term.factor, {}};
        std::copy(term.symbols.begin(), term.symbols.end(), own.symbols);
        dim.add(own);
    }
    return dim;
}

inline void Dim::refuse_value() const {
    Text text;
    text << "value(): ";
    if (mistake_ != DimMistake::none) write_mistake(text);
    else text << "the size " << *this << " is known only when the program runs";
    throw UserError(std::string(text.view()));
}

inline Dim Dim::long_sum(const Dim& a, const Dim& b) {
    detail::DimSum sum;
    for (const Dim* dim : {&a, &b})
        for (const DimTerm& term : detail::all_terms(*dim)) sum.add(term);
    return sum.overflows ? wrong(DimMistake::too_large) : from(sum.sum());
}

inline Dim Dim::long_product(const Dim& a, const Dim& b) {
    detail::DimSum sum;
    for (const DimTerm& x : detail::all_terms(a))
        for (const DimTerm& y : detail::all_terms(b)) sum.add(detail::product(x, y, sum.overflows));
    return sum.overflows ? wrong(DimMistake::too_large) : from(sum.sum());
}

inline bool Dim::long_divisible(const Dim& a, const Dim& b) {
    detail::DimSum quotient;
    return detail::divide(a, b, quotient);
}

inline Dim Dim::long_quotient(const Dim& a, const Dim& b) {
    detail::DimSum quotient;
    detail::divide(a, b, quotient);
    return from(quotient.sum());
}

inline Text& Dim::write_long(Text& text, const Dim& dim) {
    bool first = true;
    for (const DimTerm& term : dim.long_->terms)
        write(text, term.factor, term.symbols.data(), int(term.symbols.size()), first);
    if (dim.constant_ > 0) text << "+";
    if (dim.constant_) text << dim.constant_;
    return text;
}

}  // namespace fovea
