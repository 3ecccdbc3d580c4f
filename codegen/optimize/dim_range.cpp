#include "codegen/optimize/dim_range.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fovea {

namespace {

using Bound = std::optional<Dim>;

/// What `compute` gives, if a dim can be that, and i32 holds it.
template <class Compute>
Bound bound(const Compute& compute) {
    const Dim result = compute();
    const bool fits = result.constant() >= INT32_MIN && result.constant() <= INT32_MAX;
    return fits && result.mistake() == DimMistake::none ? Bound(result.without_label()) : Bound();
}

/// Whether i32 holds a bound for all sizes, of which the largest is that of i32.
bool is_held(const Dim& bound) {
    if (bound.constant() < INT32_MIN || bound.constant() > INT32_MAX) return false;
    if (bound.is_static()) return true;
    const std::vector<DimTerm> terms = bound.terms();
    const DimTerm& term = terms[0];
    const bool is_one_size = terms.size() == 1 && term.symbols.size() == 1;
    if (!is_one_size || (term.factor != 1 && term.factor != -1)) return false;
    return term.factor == 1 ? bound.constant() <= 0 : bound.constant() >= -1;
}

/// What arithmetic of i32 gives lies between the bounds only where it cannot run over.
DimRange held(const DimRange& range) {
    return range.low && range.high && is_held(*range.low) && is_held(*range.high) ? range
                                                                                  : DimRange{};
}

bool is_static(const DimRange& range) {
    return range.low && range.high && range.low->is_static() && range.high->is_static();
}

Bound sum(const Bound& a, const Bound& b) {
    if (!a || !b) return {};
    return bound([&] { return *a + *b; });
}

Bound negative(const Bound& a) {
    if (!a) return {};
    return bound([&] { return *a * Dim(-1); });
}

/// The larger (or smaller) of two bounds, where they can be compared for all sizes.
Bound larger(const Bound& a, const Bound& b) {
    if (!a || !b) return {};
    if (is_at_most(*a, *b)) return b;
    return is_at_most(*b, *a) ? a : Bound();
}
Bound smaller(const Bound& a, const Bound& b) {
    if (!a || !b) return {};
    if (is_at_most(*a, *b)) return a;
    return is_at_most(*b, *a) ? b : Bound();
}
/// One of two bounds that both hold.
Bound either(const Bound& a, const Bound& b) {
    if (a && b) return a->is_static() ? a : b;
    return a ? a : b;
}

DimRange maximum_of(const DimRange& a, const DimRange& b) {
    const Bound low = larger(a.low, b.low);
    return {low ? low : either(a.low, b.low), larger(a.high, b.high)};
}

DimRange times(const DimRange& a, const DimRange& b) {
    if (is_static(a) && is_static(b)) {
        const auto product = [](const Bound& x, const Bound& y) { return x->value() * y->value(); };
        const auto [low, high] = std::minmax({product(a.low, b.low), product(a.low, b.high),
                                              product(a.high, b.low), product(a.high, b.high)});
        return {bound([&] { return Dim(low); }), bound([&] { return Dim(high); })};
    }
    const bool positive =
        a.low && b.low && is_at_most(Dim(0), *a.low) && is_at_most(Dim(0), *b.low);
    if (!positive || !a.high || !b.high) return {};
    return {Dim(0), bound([&] { return *a.high * *b.high; })};
}

/// Division of whole numbers drops the fraction.
DimRange quotient(const DimRange& a, const DimRange& b) {
    if (!is_static(b) || b.low->value() != b.high->value() || b.low->value() <= 0) return {};
    const std::int64_t by = b.low->value();
    if (is_static(a)) return {Dim(a.low->value() / by), Dim(a.high->value() / by)};
    if (!a.low || !is_at_most(Dim(0), *a.low)) return {};
    return {Dim(0), a.high};
}

DimRange negative(const DimRange& a) { return {negative(a.high), negative(a.low)}; }

/// Nothing is known of the smallest i32, which stays as it is.
DimRange magnitude(const DimRange& a) {
    const DimRange from = held(a), back = held(negative(from));
    if (!from.low || !back.low) return {};
    const DimRange larger_of = maximum_of(from, back);
    const bool is_positive = larger_of.low && is_at_most(Dim(0), *larger_of.low);
    return {is_positive ? *larger_of.low : Dim(0), larger_of.high};
}

}  // namespace

bool is_at_most(const Dim& a, const Dim& b) {
    const Bound rest = bound([&] { return b - a; });
    if (!rest || rest->constant() < 0) return false;
    const std::vector<DimTerm> terms = rest->terms();
    return std::all_of(terms.begin(), terms.end(),
                       [](const DimTerm& term) { return term.factor >= 0; });
}

DimRange hull(const DimRange& a, const DimRange& b) {
    return {smaller(a.low, b.low), larger(a.high, b.high)};
}

DimRange range_of(Elementwise function, const DimRange& a, const DimRange& b) {
    switch (function) {
        case Elementwise::identity: return a;
        case Elementwise::neg: return held(negative(a));
        case Elementwise::relu: return maximum_of(a, {Dim(0), Dim(0)});
        case Elementwise::abs: return magnitude(a);
        case Elementwise::sign: return {Dim(-1), Dim(1)};
        case Elementwise::add: return held({sum(a.low, b.low), sum(a.high, b.high)});
        case Elementwise::sub: return range_of(Elementwise::add, a, negative(b));
        case Elementwise::mul: return held(times(a, b));
        case Elementwise::div: return quotient(a, b);
        case Elementwise::maximum: return maximum_of(a, b);
        case Elementwise::minimum: return negative(maximum_of(negative(a), negative(b)));
        default: return {};
    }
}

DimRange range_of_sum(const DimRange& terms, const Dim& count) {
    return held(times(terms, {Dim(0), count}));
}

}  // namespace fovea
