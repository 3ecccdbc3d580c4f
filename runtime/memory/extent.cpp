// Arithmetic of extents: terms stay sorted (more dims first, the constant last) and never zero.
#include "extent.h"

#include <utility>

#include "../error.h"

namespace fovea::runtime {
namespace {

using Term = Extent::Term;

bool comes_before(const Term& a, const Term& b) {
    if (a.dims.size() != b.dims.size()) return a.dims.size() > b.dims.size();
    return a.dims < b.dims;
}

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) {
        throw UserError("a size does not fit into 63 bits: {} * {}", {a, b});
    }
    return product;
}

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        throw UserError("a size does not fit into 63 bits: {} + {}", {a, b});
    }
    return sum;
}

std::string term_text(const Term& term, std::span<const std::string> names) {
    std::string text;
    if (term.dims.empty() || (term.factor != 1 && term.factor != -1)) {
        text = std::to_string(term.factor);
    } else if (term.factor == -1) {
        text = "-";
    }
    for (int dim : term.dims) {
        if (!text.empty() && text != "-") text += '*';
        const auto index = static_cast<std::size_t>(dim);
        text += index < names.size() ? names[index] : "dim" + std::to_string(dim);
    }
    return text;
}

}  // namespace

Extent::Extent(std::int64_t value) {
    if (value != 0) terms_.push_back({value, {}});
}

Extent Extent::dim(int number) {
    Extent extent;
    extent.terms_.push_back({1, {number}});
    return extent;
}

std::int64_t Extent::value(std::span<const std::int64_t> dims) const {
    std::int64_t sum = 0;
    for (const Term& term : terms_) {
        std::int64_t product = term.factor;
        for (int dim : term.dims) {
            const auto index = static_cast<std::size_t>(dim);
            if (index >= dims.size()) {
                throw InternalError("an extent mentions dim {} of {}", {dim, dims.size()});
            }
            product = checked_product(product, dims[index]);
        }
        sum = checked_sum(sum, product);
    }
    return sum;
}

bool Extent::is_constant() const {
    return terms_.empty() || (terms_.size() == 1 && terms_[0].dims.empty());
}

int Extent::as_dim() const {
    const bool bare = terms_.size() == 1 && terms_[0].factor == 1 && terms_[0].dims.size() == 1;
    return bare ? terms_[0].dims[0] : -1;
}

std::string Extent::text(std::span<const std::string> names) const {
    if (terms_.empty()) return "0";
    std::string text;
    for (const Term& term : terms_) {
        if (!text.empty() && term.factor > 0) text += '+';
        text += term_text(term, names);
    }
    return text;
}

void Extent::add(Term term) {
    if (term.factor == 0) return;
    for (std::size_t i = 1; i < term.dims.size(); ++i)  // a few
        for (std::size_t j = i; j > 0 && term.dims[j] < term.dims[j - 1]; --j)
            std::swap(term.dims[j], term.dims[j - 1]);
    std::size_t at = 0;
    while (at < terms_.size() && comes_before(terms_[at], term)) ++at;
    if (at == terms_.size() || terms_[at].dims != term.dims) {
        terms_.push_back(std::move(term));
        for (std::size_t i = terms_.size() - 1; i > at; --i) std::swap(terms_[i], terms_[i - 1]);
        return;
    }
    terms_[at].factor = checked_sum(terms_[at].factor, term.factor);
    if (terms_[at].factor != 0) return;
    for (; at + 1 < terms_.size(); ++at) std::swap(terms_[at], terms_[at + 1]);
    terms_.pop_back();
}

Extent operator+(const Extent& a, const Extent& b) {
    Extent sum = a;
    for (const Term& term : b.terms_) sum.add(term);
    return sum;
}

Extent operator*(const Extent& a, const Extent& b) {
    Extent product;
    for (const Term& left : a.terms_) {
        for (const Term& right : b.terms_) {
            Term term{checked_product(left.factor, right.factor), left.dims};
            term.dims.insert(term.dims.end(), right.dims.begin(), right.dims.end());
            product.add(std::move(term));
        }
    }
    return product;
}

}  // namespace fovea::runtime
