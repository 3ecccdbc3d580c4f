#include "token_weights.h"

#include <algorithm>

namespace fovea::runtime {

std::int32_t likeliest_token(std::span<const float> logits) {
    // Of a part at a time the largest one; in which it is, it is looked for.
    constexpr std::size_t kPart = 1024;
    std::size_t best = 0;
    float largest = logits[0];
    for (std::size_t i = 0; i < logits.size(); i += kPart) {
        const float own = largest_of(logits.subspan(i, std::min(kPart, logits.size() - i)));
        if (own > largest) largest = own, best = i;
    }
    const auto found = std::find(logits.begin() + std::ptrdiff_t(best), logits.end(), largest);
    return static_cast<std::int32_t>(found - logits.begin());
}

bool are_finite(std::span<const float> values) {
    std::uint32_t found = 0;
    for (const float value : values) {
        const std::uint32_t exponent = __builtin_bit_cast(std::uint32_t, value) & 0x7f800000U;
        found |= exponent + 0x00800000U;  // the highest bit: of infinities and what is no number
    }
    return found < 0x80000000U;
}

TokenWeights::TokenWeights(std::span<const float> logits, double temperature)
    : logits_(logits), weights_(logits.size()), classes_(logits.size()) {
    const float largest = largest_of(logits);
    const auto inverse = static_cast<float>(std::min(1 / temperature, 1e30));
    float* const weights = weights_.data();
    std::uint16_t* const classes = classes_.data();
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const float x = (logits[i] - largest) * inverse;
        weights[i] = x > kLeastExponent ? x : kLeastExponent;
    }
    for (std::size_t i = 0; i < logits.size(); ++i)
        classes[i] =
            static_cast<std::uint16_t>(static_cast<std::int32_t>(weights[i] * -kClassesOfUnit));
    take_exponentials(weights_);
    add_classes();
}

void TokenWeights::add_classes() {
    // Neighbours are often of one class: sums of their own do not wait for each other.
    constexpr std::size_t kAtOnce = 4;
    std::array<std::array<double, kClasses>, kAtOnce> sums{};
    for (std::size_t i = 0; i < weights_.size(); ++i)
        sums[i % kAtOnce][classes_[i]] += static_cast<double>(weights_[i]);
    sum_ = 0;
    for (std::size_t number = 0; number < kClasses; ++number) {
        sums_[number] = 0;
        for (const auto& some : sums) sums_[number] += some[number];
        sum_ += sums_[number];
    }
}

void TokenWeights::keep_likeliest(std::size_t count) {
    if (count >= weights_.size()) return;
    std::array<std::size_t, kClasses> sizes{};
    for (const std::uint16_t number : classes_) ++sizes[number];
    std::size_t kept = 0, last = 0;
    while (kept + sizes[last] < count) kept += sizes[last++];
    std::vector<std::int32_t> tokens = tokens_of(last);
    const std::size_t more = std::min(count - kept, tokens.size());
    std::nth_element(tokens.begin(), tokens.begin() + std::ptrdiff_t(more), tokens.end(),
                     [this](std::int32_t a, std::int32_t b) { return is_before(a, b); });
    for (std::size_t i = 0; i < weights_.size(); ++i)
        if (classes_[i] > last) weights_[i] = 0;
    for (std::size_t i = more; i < tokens.size(); ++i)
        weights_[static_cast<std::size_t>(tokens[i])] = 0;
    add_classes();
}

std::vector<std::int32_t> TokenWeights::tokens_of(std::size_t number) const {
    std::vector<std::int32_t> tokens;
    for (std::size_t i = 0; i < classes_.size(); ++i)
        if (classes_[i] == number && weights_[i] > 0)
            tokens.push_back(static_cast<std::int32_t>(i));
    return tokens;
}

/// Likelier, or as likely and of a lower number.
bool TokenWeights::is_before(std::int32_t a, std::int32_t b) const {
    const float x = logits_[static_cast<std::size_t>(a)], y = logits_[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
}

double TokenWeights::weight_of(std::span<const std::int32_t> tokens) const {
    double sum = 0;
    for (const std::int32_t token : tokens)
        sum += static_cast<double>(weights_[static_cast<std::size_t>(token)]);
    return sum;
}

template <class Ends>
TokenWeights::Place TokenWeights::walk(Ends ends) const {
    double sum = 0;
    std::size_t number = 0, last = 0;
    for (; number < kClasses && !ends(sum + sums_[number]); ++number) {
        if (sums_[number] > 0) last = number;
        sum += sums_[number];
    }
    const bool is_inside = number < kClasses;
    Place place{0, is_inside ? sum : sum - sums_[last]};
    constexpr std::size_t kFew = 32;
    std::vector<std::int32_t> tokens = tokens_of(is_inside ? number : last);
    const auto before = [this](std::int32_t a, std::int32_t b) { return is_before(a, b); };
    std::span<std::int32_t> some = tokens;
    while (some.size() > kFew) {
        const std::size_t half = some.size() / 2;
        std::nth_element(some.begin(), some.begin() + std::ptrdiff_t(half), some.end(), before);
        const double likelier = weight_of(some.first(half));
        const bool is_there = ends(place.sum + likelier);
        if (!is_there) place.sum += likelier;
        some = is_there ? some.first(half) : some.subspan(half);
    }
    std::sort(some.begin(), some.end(), before);
    for (const std::int32_t token : some) {
        place.token = token;
        place.sum += static_cast<double>(weights_[static_cast<std::size_t>(token)]);
        if (ends(place.sum)) break;
    }
    return place;
}

double TokenWeights::sum_from(double least) const {
    return walk([&](double sum) { return sum >= least; }).sum;
}

std::int32_t TokenWeights::token_at(double below) const {
    return walk([&](double sum) { return sum > below; }).token;
}

}  // namespace fovea::runtime
