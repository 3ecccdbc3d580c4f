// Sizes of axes: static, named (`hidden=512`), or symbolic ("batch"), their sums, products and
// exact quotients.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "codegen/base/symbol.h"

namespace fovea {

/// A product of up to three symbols with an integer factor; factor 0 is an unused term.
struct DimTerm {
    std::int64_t factor = 0;
    Symbol symbols[3]{};  // sorted, empty ones last

    constexpr bool same_symbols(const DimTerm& other) const {
        for (int i = 0; i < 3; ++i)
            if (symbols[i] != other.symbols[i]) return false;
        return true;
    }
    /// Whether its symbols stand before those of the other, in the order of terms.
    constexpr bool before(const DimTerm& other) const {
        for (int i = 0; i < 3; ++i)
            if (symbols[i] != other.symbols[i]) return symbols[i] < other.symbols[i];
        return false;
    }
    constexpr bool operator==(const DimTerm& other) const {
        return factor == other.factor && (!factor || same_symbols(other));
    }
};

/// `constant + a product of symbols + another`. Comparison with == is of values; `fits` also
/// respects names.
class Dim {
  public:
    constexpr Dim() = default;
    template <std::integral N>
    constexpr Dim(N value) : constant_(std::int64_t(value)) {}
    /// A symbolic dim: its size is known when the program runs.
    constexpr Dim(std::string_view name) { terms_[0] = {1, {Symbol(name)}}; }
    constexpr Dim(const char* name) : Dim(std::string_view(name)) {}
    /// A named static dim: it fits only dims of the same name, or without one.
    constexpr Dim(const char* name, std::int64_t value)
        : constant_(value), label_(std::string_view(name)) {}

    constexpr bool is_static() const { return terms_[0].factor == 0; }
    /// The value of a static dim.
    constexpr std::int64_t value() const { return constant_; }
    constexpr std::int64_t constant() const { return constant_; }
    constexpr const DimTerm (&terms() const)[2] { return terms_; }
    constexpr Symbol label() const { return label_; }
    constexpr Dim without_label() const {
        Dim copy = *this;
        copy.label_ = {};
        return copy;
    }
    /// The symbol that this dim is, bare; empty for everything else.
    constexpr Symbol bare_symbol() const {
        const DimTerm& term = terms_[0];
        bool bare = term.factor == 1 && !term.symbols[1] && !terms_[1].factor && constant_ == 0;
        return bare ? term.symbols[0] : Symbol();
    }
    constexpr bool operator==(const Dim& other) const {
        if (constant_ != other.constant_) return false;
        if (!terms_[0].factor && !other.terms_[0].factor) return true;
        return terms_[0] == other.terms_[0] && terms_[1] == other.terms_[1];
    }
    constexpr bool is_one() const { return is_static() && constant_ == 1; }

    friend constexpr Dim operator+(const Dim& a, const Dim& b) {
        Dim result = a.without_label();
        result.constant_ += b.constant_;
        for (const DimTerm& term : b.terms_) result.add(term);
        return result;
    }
    friend constexpr Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }
    friend constexpr Dim operator*(const Dim& a, const Dim& b) {
        Dim result;
        result.constant_ = a.constant_ * b.constant_;
        if (a.is_static() && b.is_static()) return result;
        for (const DimTerm& x : a.terms_) {
            result.add(x, b.constant_);
            for (const DimTerm& y : b.terms_)
                if (x.factor && y.factor) result.add(product(x, y));
        }
        for (const DimTerm& y : b.terms_) result.add(y, a.constant_);
        return result;
    }
    /// Whether `this / divisor` is exact for every value of the symbols. `divisor` is one term or
    /// a constant other than 0.
    constexpr bool divisible_by(const Dim& divisor) const {
        if (is_static() && divisor.is_static())
            return divisor.constant_ && constant_ % divisor.constant_ == 0;
        if (divisor == *this) return true;
        DimTerm by = divisor.as_term();
        if (!by.factor) return false;
        if (constant_ && (by.symbols[0] || constant_ % by.factor)) return false;
        for (const DimTerm& term : terms_)
            if (term.factor && (term.factor % by.factor || !contains(term, by))) return false;
        return true;
    }
    /// The exact quotient; `divisible_by` must hold.
    friend constexpr Dim operator/(const Dim& a, const Dim& b) {
        if (a.is_static() && b.is_static()) return Dim(a.constant_ / b.constant_);
        if (a == b) return Dim(1);
        DimTerm by = b.as_term();
        Dim result;
        result.constant_ = by.symbols[0] ? 0 : a.constant_ / by.factor;
        for (const DimTerm& term : a.terms_)
            if (term.factor) result.add(without(term, by));
        return result;
    }
    friend constexpr Text& operator<<(Text& text, const Dim& dim) {
        if (dim.is_static() && dim.label_) text << dim.label_ << "=";
        if (dim.is_static()) return text << dim.constant_;
        bool first = true;
        for (const DimTerm& term : dim.terms_) {
            if (!term.factor) continue;
            if (!first && term.factor > 0) text << "+";
            if (term.factor == -1) text << "-";
            else if (term.factor != 1) text << term.factor << "*";
            for (int i = 0; i < 3 && term.symbols[i]; ++i)
                text << (i ? "*" : "") << term.symbols[i];
            first = false;
        }
        if (dim.constant_ > 0) text << "+";
        if (dim.constant_) text << dim.constant_;
        return text;
    }

  private:
    constexpr DimTerm as_term() const {
        if (is_static()) return {constant_, {}};
        if (constant_ == 0 && !terms_[1].factor) return terms_[0];
        return {};
    }
    static constexpr DimTerm product(const DimTerm& x, const DimTerm& y) {
        Symbol all[6]{};
        int count = 0;
        for (Symbol s : x.symbols)
            if (s) all[count++] = s;
        for (Symbol s : y.symbols)
            if (s) all[count++] = s;
        if (count > 3) throw std::domain_error("a dim is a product of at most three symbols");
        for (int i = 1; i < count; ++i)
            for (int k = i; k > 0 && all[k] < all[k - 1]; --k) std::swap(all[k], all[k - 1]);
        return {x.factor * y.factor, {all[0], all[1], all[2]}};
    }
    static constexpr bool contains(const DimTerm& term, const DimTerm& part) {
        DimTerm rest = term;
        for (Symbol s : part.symbols) {
            if (!s) continue;
            bool found = false;
            for (Symbol& t : rest.symbols)
                if (!found && t == s) found = true, t = {};
            if (!found) return false;
        }
        return true;
    }
    static constexpr DimTerm without(const DimTerm& term, const DimTerm& part) {
        DimTerm rest = term, kept{term.factor / part.factor, {}};
        for (Symbol s : part.symbols) {
            bool found = false;
            for (Symbol& t : rest.symbols)
                if (s && !found && t == s) found = true, t = {};
        }
        int count = 0;
        for (Symbol s : rest.symbols)
            if (s) kept.symbols[count++] = s;
        return kept;
    }
    constexpr void add(DimTerm term, std::int64_t times = 1) {
        term.factor *= times;
        if (!term.factor) return;
        if (!term.symbols[0]) {
            constant_ += term.factor;
            return;
        }
        for (DimTerm& own : terms_) {
            if (own.factor && !own.same_symbols(term)) continue;
            term.factor += own.factor;
            own = term;
            normalize();
            return;
        }
        throw std::domain_error("a dim is a sum of at most two symbolic terms and a constant");
    }
    constexpr void normalize() {
        for (DimTerm& term : terms_)
            if (!term.factor) term = {};
        bool swap = !terms_[0].factor && terms_[1].factor;
        if (terms_[0].factor && terms_[1].factor) swap = terms_[1].before(terms_[0]);
        if (swap) std::swap(terms_[0], terms_[1]);
    }

    std::int64_t constant_ = 0;
    DimTerm terms_[2]{};
    Symbol label_;
};

/// Whether two dims can stand for the same axis: equal sizes, and equal names where both have one.
constexpr bool fits(const Dim& a, const Dim& b) {
    return a == b && (!a.label() || !b.label() || a.label() == b.label());
}

}  // namespace fovea
