// Tokens from the likeliest on, without a sort of them all: a vocabulary is large, and a draw needs
// the few around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exponentials.h"

namespace fovea::runtime {

/// The probabilities of tokens at a temperature, as weights that are not divided by their sum. They
/// are counted in classes, from the likeliest on, and a class is halved again and again where a sum
/// ends in it.
class TokenWeights {
  public:
    /// `logits`, which must outlive this, are finite; `temperature` is above 0.
    TokenWeights(std::span<const float> logits, double temperature);
    /// Makes the weights of all but the `count` likeliest tokens, at least one, 0.
    void keep_likeliest(std::size_t count);

    double sum() const { return sum_; }
    /// Of the fewest likeliest tokens whose weights are at least `least` together: these weights.
    double sum_from(double least) const;
    /// The first of the tokens, likeliest first and equal ones in their order, whose weight and
    /// those before it are more than `below` together; the last one where none is.
    std::int32_t token_at(double below) const;

  private:
    static constexpr float kClassesOfUnit = 16;  // of logit / temperature
    static constexpr auto kClasses = static_cast<std::size_t>(-kLeastExponent * kClassesOfUnit) + 1;

    /// Where the weights from the likeliest on first satisfy ends(their sum).
    struct Place {
        std::int32_t token;
        double sum;
    };
    template <class Ends>
    Place walk(Ends ends) const;
    std::vector<std::int32_t> tokens_of(std::size_t number) const;
    bool is_before(std::int32_t a, std::int32_t b) const;
    double weight_of(std::span<const std::int32_t> tokens) const;
    void add_classes();

    std::span<const float> logits_;
    std::vector<float> weights_;
    std::vector<std::uint16_t> classes_;
    std::array<double, kClasses> sums_{};
    double sum_ = 0;
};

/// The likeliest token, of equal ones the first. `logits` is not empty.
std::int32_t likeliest_token(std::span<const float> logits);

/// Whether all are finite.
bool are_finite(std::span<const float> values);

}  // namespace fovea::runtime
