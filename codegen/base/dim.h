// Sizes of axes: static, named (`hidden=512`), or symbolic ("batch"), their sums, products and
// exact quotients.
//
// A wrong one (a name with blanks, 5 / 2) is a size that knows what is wrong with it; the first op
// that uses it is refused, at its line.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "codegen/base/symbol.h"

namespace fovea {

/// What is wrong with a dim.
enum class DimMistake : unsigned char { none, name, quotient, too_long, too_large };

/// A product of symbols with an integer factor, one of the terms of a dim.
struct DimTerm {
    std::int64_t factor = 0;
    std::vector<Symbol> symbols{};  // sorted

    bool operator==(const DimTerm&) const = default;
};

/// A sum of any number of terms and a constant, as dims are where two short terms do not hold them.
struct LongDim;

/// A term of at most three symbols; factor 0 is an unused one.
struct ShortTerm {
    std::int64_t factor = 0;
    Symbol symbols[3]{};  // sorted, empty ones last

    constexpr bool same_symbols(const ShortTerm& other) const {
        return symbols[0].code_ == other.symbols[0].code_ &&
               symbols[1].code_ == other.symbols[1].code_ &&
               symbols[2].code_ == other.symbols[2].code_ &&
               (!symbols[0].text_ || symbols[0] == other.symbols[0]) &&
               (!symbols[1].text_ || symbols[1] == other.symbols[1]) &&
               (!symbols[2].text_ || symbols[2] == other.symbols[2]);
    }
    /// Whether its symbols stand before those of the other, in the order of terms.
    constexpr bool before(const ShortTerm& other) const {
        for (int i = 0; i < 3; ++i)
            if (symbols[i] != other.symbols[i]) return symbols[i] < other.symbols[i];
        return false;
    }
    constexpr bool operator==(const ShortTerm& other) const {
        return factor == other.factor && (!factor || same_symbols(other));
    }
};

/// What a Dim holds beside its constant. Copying a constant takes a compiler no step, where filling
/// in members takes one for each.
struct ShortTerms {
    ShortTerm term[2]{};

    constexpr const ShortTerm* begin() const { return term; }
    constexpr const ShortTerm* end() const { return term + 2; }
    constexpr ShortTerm* begin() { return term; }
    constexpr ShortTerm* end() { return term + 2; }
    constexpr ShortTerm& operator[](int i) { return term[i]; }
    constexpr const ShortTerm& operator[](int i) const { return term[i]; }
};
inline constexpr ShortTerms kNoTerms{};
inline constexpr Symbol kNoSymbol{};

/// `constant + a product of symbols + another`; while a program runs, any number of products.
/// Comparison with == is of values; `fits` also respects names.
class Dim {
  public:
    constexpr Dim() = default;
    template <std::integral N>
    constexpr Dim(N value) : constant_(std::int64_t(value)) {}
    /// A symbolic dim: its size is known when the program runs.
    constexpr Dim(std::string_view name) {
        if (!is_dim_name(name)) mistake_ = DimMistake::name;
        terms_[0] = {1, {Symbol(name)}};
    }
    constexpr Dim(const char* name) : Dim(std::string_view(name)) {}
    /// A named static dim: it fits only dims of the same name, or without one.
    constexpr Dim(const char* name, std::int64_t value)
        : constant_(value), label_(std::string_view(name)) {
        if (!is_dim_name(name)) *this = Dim(name);
    }

    /// Whether it is a number that is known, and no mistake.
    constexpr bool is_static() const {
        return terms_.term[0].factor == 0 && !long_ && mistake_ == DimMistake::none;
    }
    /// The value of a static dim. UserError for others, and for what is no size: `Dim(50) / 4`.
    constexpr std::int64_t value() const {
        if (!is_static()) refuse_value();
        return constant_;
    }
    constexpr std::int64_t constant() const { return constant_; }
    /// The terms beside the constant.
    std::vector<DimTerm> terms() const;
    constexpr const Symbol& label() const { return label_; }
    constexpr DimMistake mistake() const { return mistake_; }
    /// Calls `visit` for each symbol of each term.
    template <class Visit>
    constexpr void each_symbol(Visit&& visit) const {
        if (is_static()) return;
        for (const ShortTerm& term : terms_)
            for (const Symbol& symbol : term.symbols)
                if (term.factor && symbol) visit(symbol);
        if (!long_) return;
        for (const DimTerm& term : terms())
            for (const Symbol& symbol : term.symbols) visit(symbol);
    }
    constexpr bool holds(const Symbol& symbol) const {
        bool found = false;
        each_symbol([&](const Symbol& other) { found = found || other == symbol; });
        return found;
    }
    /// Whether it is more than two terms of at most three symbols: such a size has no short form,
    /// and models that are checked while compiling cannot have it.
    constexpr bool is_long() const { return long_ != nullptr; }
    constexpr Dim without_label() const {
        Dim copy = *this;
        copy.label_ = kNoSymbol;
        return copy;
    }
    /// The symbol that this dim is, bare; empty for everything else.
    constexpr Symbol bare_symbol() const {
        const ShortTerm& term = terms_[0];
        bool bare = term.factor == 1 && !term.symbols[1] && !terms_[1].factor && constant_ == 0;
        return bare && !long_ ? term.symbols[0] : Symbol();
    }
    constexpr bool operator==(const Dim& other) const {
        return constant_ == other.constant_ && long_ == other.long_ &&
               terms_.term[0].factor == other.terms_.term[0].factor &&
               terms_.term[1].factor == other.terms_.term[1].factor &&
               (!terms_.term[0].factor || terms_.term[0].same_symbols(other.terms_.term[0])) &&
               (!terms_.term[1].factor || terms_.term[1].same_symbols(other.terms_.term[1]));
    }
    /// The same sum in the form that holds it.
    static Dim from(const LongDim& sum);
    constexpr bool is_one() const { return is_static() && constant_ == 1; }
    /// Whether no tensor has it: it is wrong, or negative.
    constexpr bool is_no_size() const { return mistake_ != DimMistake::none || is_negative(); }
    constexpr bool is_negative() const { return is_static() && constant_ < 0; }
    constexpr bool is_zero() const { return is_static() && constant_ == 0; }
    /// Whether it is seen at once that both are the same, name and all.
    constexpr bool is_plainly(const Dim& other) const {
        return constant_ == other.constant_ && label_.code_ == other.label_.code_ &&
               terms_.term[0].factor == other.terms_.term[0].factor &&
               terms_.term[0].symbols[0].code_ == other.terms_.term[0].symbols[0].code_ &&
               !terms_.term[0].symbols[1].code_ && !other.terms_.term[0].symbols[1].code_ &&
               !terms_.term[1].factor && !other.terms_.term[1].factor && !label_.text_ &&
               !terms_.term[0].symbols[0].text_ && !long_ && !other.long_ &&
               mistake_ == DimMistake::none && other.mistake_ == DimMistake::none;
    }
    /// The same value and the same name, or none.
    constexpr bool fits(const Dim& other) const {
        return *this == other && (!label_.code_ || !other.label_.code_ || label_ == other.label_);
    }

    friend constexpr Dim operator+(const Dim& a, const Dim& b) {
        if (a.mistake_ != DimMistake::none) return a;
        if (b.mistake_ != DimMistake::none) return b;
        if (b.constant_ == 0 && b.is_static()) return a.without_label();
        Dim result = a.without_label();
        if (!a.long_ && !b.long_) {
            if (__builtin_add_overflow(a.constant_, b.constant_, &result.constant_))
                return wrong(DimMistake::too_large);
            if (b.is_static()) return result;
            for (const ShortTerm& term : b.terms_) result.add(term);
            if (result.mistake_ != DimMistake::too_long) return result;
        }
        return std::is_constant_evaluated() ? result : long_sum(a, b);
    }
    friend constexpr Dim operator-(const Dim& a, const Dim& b) {
        if (b.constant_ == 0 && b.is_static() && b.mistake_ == DimMistake::none && !a.label_)
            return a;
        return a + b * Dim(-1);
    }
    friend constexpr Dim operator*(const Dim& a, const Dim& b) {
        if (a.mistake_ != DimMistake::none) return a;
        if (b.mistake_ != DimMistake::none) return b;
        Dim result;
        if (!a.long_ && !b.long_) {
            if (__builtin_mul_overflow(a.constant_, b.constant_, &result.constant_))
                return wrong(DimMistake::too_large);
            if (a.is_static() && b.is_static()) return result;
            for (const ShortTerm& x : a.terms_) {
                result.add(x, b.constant_);
                for (const ShortTerm& y : b.terms_)
                    if (x.factor && y.factor) result.add_product(x, y);
            }
            for (const ShortTerm& y : b.terms_) result.add(y, a.constant_);
            if (result.mistake_ != DimMistake::too_long) return result;
        }
        return std::is_constant_evaluated() ? result : long_product(a, b);
    }
    /// Whether `this / divisor` is exact for every value of the symbols. `divisor` is one term or
    /// a constant other than 0.
    constexpr bool divisible_by(const Dim& divisor) const {
        if (mistake_ != DimMistake::none || divisor.mistake_ != DimMistake::none) return false;
        if (is_static() && divisor.is_static())
            return divisor.constant_ == -1 ||
                   (divisor.constant_ && constant_ % divisor.constant_ == 0);
        if (divisor == *this) return true;
        if (long_ || divisor.long_) return long_divisible(*this, divisor);
        ShortTerm by = divisor.as_term();
        if (!by.factor) return false;
        if (constant_ && (by.symbols[0] || constant_ % by.factor)) return false;
        for (const ShortTerm& term : terms_)
            if (term.factor && (term.factor % by.factor || !contains(term, by))) return false;
        return true;
    }
    /// The exact quotient; a mistake where `divisible_by` does not hold.
    friend constexpr Dim operator/(const Dim& a, const Dim& b) {
        if (a.mistake_ != DimMistake::none) return a;
        if (b.mistake_ != DimMistake::none) return b;
        if (b.is_static() && b.constant_ == -1) return a * b;  // also of the lowest number
        const bool numbers = a.is_static() && b.is_static() && b.constant_;
        if (numbers && a.constant_ % b.constant_ == 0) return Dim(a.constant_ / b.constant_);
        if (!a.divisible_by(b)) return wrong_quotient(a, b);
        if (a == b) return Dim(1);
        if (a.long_ || b.long_) return long_quotient(a, b);
        ShortTerm by = b.as_term();
        Dim result;
        result.constant_ = by.symbols[0] ? 0 : a.constant_ / by.factor;
        for (const ShortTerm& term : a.terms_)
            if (term.factor) result.add(without(term, by));
        return result;
    }
    friend constexpr Text& operator<<(Text& text, const Dim& dim) {
        if (dim.is_static() && dim.label_) text << dim.label_ << "=";
        if (dim.is_static()) return text << dim.constant_;
        if (dim.long_) return write_long(text, dim);
        bool first = true;
        for (const ShortTerm& term : dim.terms_)
            if (term.factor) write(text, term.factor, term.symbols, 3, first);
        if (dim.constant_ > 0) text << "+";
        if (dim.constant_) text << dim.constant_;
        return text;
    }
    /// What is wrong with it, as the end of a message.
    constexpr void write_mistake(Text& text) const {
        switch (mistake_) {
            case DimMistake::none: break;
            case DimMistake::name:
                text << "'" << terms_[0].symbols[0] << "' is no name of a size: use letters, "
                     << "digits and _";
                break;
            case DimMistake::quotient: {
                Dim divided = *this;
                divided.mistake_ = DimMistake::none;
                divided.terms_[1] = {};
                bool sum = terms_[0].factor && constant_, first = true;
                text << "the size " << (sum ? "(" : "") << divided << (sum ? ")" : "") << " / ";
                if (terms_[1].factor) write(text, terms_[1].factor, terms_[1].symbols, 3, first);
                else text << "(a sum, or 0)";
                text << " is not a whole number" << (terms_[0].factor ? " for all sizes" : "");
                break;
            }
            case DimMistake::too_long:
                text << "a size has more than two terms, or one of more than three symbolic sizes";
                break;
            case DimMistake::too_large: text << "a size has more than 63 bits"; break;
        }
    }

  private:
    [[noreturn]] void refuse_value() const;
    static constexpr Dim wrong(DimMistake mistake) {
        Dim dim;
        dim.mistake_ = mistake;
        return dim;
    }
    /// Keeps what can be said of a and b: the second term is the divisor.
    static constexpr Dim wrong_quotient(const Dim& a, const Dim& b) {
        Dim dim = a.without_label();
        dim.long_ = nullptr;
        dim.mistake_ = DimMistake::quotient;
        dim.terms_[1] = b.as_term();
        return dim;
    }
    constexpr ShortTerm as_term() const {
        if (is_static()) return {constant_, {}};
        if (constant_ == 0 && !terms_[1].factor) return terms_[0];
        return {};
    }
    constexpr void add_product(const ShortTerm& x, const ShortTerm& y) {
        Symbol all[6]{};
        int count = 0;
        for (const Symbol& s : x.symbols)
            if (s) all[count++] = s;
        for (const Symbol& s : y.symbols)
            if (s) all[count++] = s;
        for (int i = 1; i < count; ++i)
            for (int k = i; k > 0 && all[k] < all[k - 1]; --k) std::swap(all[k], all[k - 1]);
        if (count > 3) mistake_ = DimMistake::too_long;
        else add({x.factor, {all[0], all[1], all[2]}}, y.factor);
    }
    static constexpr bool contains(const ShortTerm& term, const ShortTerm& part) {
        ShortTerm rest = term;
        for (const Symbol& s : part.symbols) {
            if (!s) continue;
            bool found = false;
            for (Symbol& t : rest.symbols)
                if (!found && t == s) found = true, t = {};
            if (!found) return false;
        }
        return true;
    }
    static constexpr ShortTerm without(const ShortTerm& term, const ShortTerm& part) {
        ShortTerm rest = term, kept{term.factor / part.factor, {}};
        for (const Symbol& s : part.symbols) {
            bool found = false;
            for (Symbol& t : rest.symbols)
                if (s && !found && t == s) found = true, t = {};
        }
        int count = 0;
        for (const Symbol& s : rest.symbols)
            if (s) kept.symbols[count++] = s;
        return kept;
    }
    constexpr void add(ShortTerm term, std::int64_t times = 1) {
        if (__builtin_mul_overflow(term.factor, times, &term.factor))
            mistake_ = DimMistake::too_large;
        if (!term.factor || mistake_ != DimMistake::none) return;
        if (!term.symbols[0]) {
            if (__builtin_add_overflow(constant_, term.factor, &constant_))
                mistake_ = DimMistake::too_large;
            return;
        }
        for (ShortTerm& own : terms_) {
            if (own.factor && !own.same_symbols(term)) continue;
            if (__builtin_add_overflow(own.factor, term.factor, &term.factor))
                mistake_ = DimMistake::too_large;
            own = term;
            normalize();
            return;
        }
        mistake_ = DimMistake::too_long;
    }
    constexpr void normalize() {
        for (ShortTerm& term : terms_)
            if (!term.factor) term = {};
        bool swap = !terms_[0].factor && terms_[1].factor;
        if (terms_[0].factor && terms_[1].factor) swap = terms_[1].before(terms_[0]);
        if (swap) std::swap(terms_[0], terms_[1]);
    }
    static constexpr void write(Text& text, std::int64_t factor, const Symbol* symbols, int count,
                                bool& first) {
        if (!first && factor > 0) text << "+";
        const bool bare = count == 0 || !symbols[0];
        if (factor == -1 && !bare) text << "-";
        else if (factor != 1 || bare) text << factor << (bare ? "" : "*");
        for (int i = 0; i < count && symbols[i]; ++i) text << (i ? "*" : "") << symbols[i];
        first = false;
    }

    static Dim long_sum(const Dim& a, const Dim& b);
    static Dim long_product(const Dim& a, const Dim& b);
    static bool long_divisible(const Dim& a, const Dim& b);
    static Dim long_quotient(const Dim& a, const Dim& b);
    static Text& write_long(Text& text, const Dim& dim);

    std::int64_t constant_ = 0;
    ShortTerms terms_ = kNoTerms;
    Symbol label_ = kNoSymbol;
    DimMistake mistake_ = DimMistake::none;
    const LongDim* long_ = nullptr;  // one for each sum, so that equal ones are at one address
};

inline constexpr Dim kNoDim{};

/// Whether two dims can stand for the same axis: equal sizes, and equal names where both have one.
constexpr bool fits(const Dim& a, const Dim& b) { return a.fits(b); }

}  // namespace fovea

#include "codegen/base/long_dim.h"
