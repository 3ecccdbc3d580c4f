// Sizes of axes: static, named (`hidden=512`), or symbolic ("batch"), their sums, products and
// exact quotients.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "codegen/base/symbol.h"

namespace fovea {

/// A product of up to three symbols with an integer factor; factor 0 is an unused term.
struct DimTerm {
    std::int64_t factor = 0;
    std::array<Symbol, 3> symbols{};  // sorted, empty ones last

    constexpr bool same_symbols(const DimTerm& other) const { return symbols == other.symbols; }
    constexpr bool operator==(const DimTerm&) const = default;
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
    constexpr const std::array<DimTerm, 2>& terms() const { return terms_; }
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
        return constant_ == other.constant_ && terms_ == other.terms_;
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
        for (const DimTerm& x : a.terms_) {
            result.add({x.factor * b.constant_, x.symbols});
            for (const DimTerm& y : b.terms_)
                if (x.factor && y.factor) result.add(product(x, y));
        }
        for (const DimTerm& y : b.terms_) result.add({y.factor * a.constant_, y.symbols});
        return result;
    }
    /// Whether `this / divisor` is exact for every value of the symbols. `divisor` is one term or
    /// a constant other than 0.
    constexpr bool divisible_by(const Dim& divisor) const {
        if (divisor == *this) return !(divisor == Dim(0));
        DimTerm by = divisor.as_term();
        if (!by.factor) return false;
        if (constant_ && (by.symbols[0] || constant_ % by.factor)) return false;
        for (const DimTerm& term : terms_)
            if (term.factor && (term.factor % by.factor || !contains(term, by))) return false;
        return true;
    }
    /// The exact quotient; `divisible_by` must hold.
    friend constexpr Dim operator/(const Dim& a, const Dim& b) {
        if (a == b) return Dim(1);
        DimTerm by = b.as_term();
        Dim result;
        result.constant_ = by.symbols[0] ? 0 : a.constant_ / by.factor;
        for (const DimTerm& term : a.terms_)
            if (term.factor) result.add({term.factor / by.factor, without(term, by)});
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
            for (int i = 0; i < 3 && term.symbols[i]; ++i) text << (i ? "*" : "") << term.symbols[i];
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
        std::array<Symbol, 6> all{};
        int count = 0;
        for (Symbol s : x.symbols)
            if (s) all[count++] = s;
        for (Symbol s : y.symbols)
            if (s) all[count++] = s;
        if (count > 3) throw std::domain_error("a dim is a product of at most three symbols");
        std::sort(all.begin(), all.begin() + count);
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
    static constexpr std::array<Symbol, 3> without(const DimTerm& term, const DimTerm& part) {
        std::array<Symbol, 3> rest = term.symbols, kept{};
        for (Symbol s : part.symbols) {
            bool found = false;
            for (Symbol& t : rest)
                if (s && !found && t == s) found = true, t = {};
        }
        int count = 0;
        for (Symbol s : rest)
            if (s) kept[count++] = s;
        return kept;
    }
    constexpr void add(const DimTerm& term) {
        if (!term.factor) return;
        if (!term.symbols[0]) {
            constant_ += term.factor;
            return;
        }
        for (DimTerm& own : terms_) {
            if (own.factor && !own.same_symbols(term)) continue;
            own = {own.factor + term.factor, term.symbols};
            normalize();
            return;
        }
        throw std::domain_error("a dim is a sum of at most two symbolic terms and a constant");
    }
    constexpr void normalize() {
        for (DimTerm& term : terms_)
            if (!term.factor) term = {};
        bool swap = !terms_[0].factor && terms_[1].factor;
        if (terms_[0].factor && terms_[1].factor) swap = terms_[1].symbols < terms_[0].symbols;
        if (swap) std::swap(terms_[0], terms_[1]);
    }

    std::int64_t constant_ = 0;
    std::array<DimTerm, 2> terms_{};
    Symbol label_;
};

/// Whether two dims can stand for the same axis: equal sizes, and equal names where both have one.
constexpr bool fits(const Dim& a, const Dim& b) {
    return a == b && (!a.label() || !b.label() || a.label() == b.label());
}

}  // namespace fovea
