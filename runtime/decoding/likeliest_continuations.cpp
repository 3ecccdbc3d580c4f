#include "likeliest_continuations.h"

#include <algorithm>
#include <cmath>

#include "exponentials.h"

namespace fovea::runtime {

namespace {

bool is_likelier_continuation(const Continuation& a, const Continuation& b) {
    if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
    return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
}

}  // namespace

double log_normalizer(std::span<const float> logits) {
    constexpr std::size_t kSome = 256;
    const float largest = largest_of(logits);
    double sum = 0;
    for (std::size_t first = 0; first < logits.size(); first += kSome) {
        const std::size_t count = std::min(kSome, logits.size() - first);
        float some[kSome];
        for (std::size_t i = 0; i < count; ++i) {
            const float x = logits[first + i] - largest;
            some[i] = x > kLeastExponent ? x : kLeastExponent;
        }
        take_exponentials({some, count});
        for (std::size_t i = 0; i < count; ++i) sum += double(some[i]);
    }
    return -(double(largest) + std::log(sum));
}

std::vector<Continuation> likeliest_continuations(std::span<const float> logits,
                                                  std::span<const double> normalizers,
                                                  std::span<const double> log_probabilities,
                                                  std::size_t count) {
    std::vector<Continuation> best;  // a heap, the least likely on top
    if (count == 0) return best;
    const std::size_t words = logits.size() / std::max<std::size_t>(normalizers.size(), 1);
    for (std::size_t row = 0; row < normalizers.size(); ++row) {
        const auto own = logits.subspan(row * words, words);
        for (std::size_t word = 0; word < words; ++word) {
            const double change = double(own[word]) + normalizers[row];
            const Continuation longer{log_probabilities[row] + change, std::int32_t(row),
                                      std::int32_t(word)};
            if (best.size() == count) {
                if (!is_likelier_continuation(longer, best.front())) continue;
                std::pop_heap(best.begin(), best.end(), is_likelier_continuation);
                best.pop_back();
            }
            best.push_back(longer);
            std::push_heap(best.begin(), best.end(), is_likelier_continuation);
        }
    }
    std::sort_heap(best.begin(), best.end(), is_likelier_continuation);
    return best;
}

}  // namespace fovea::runtime
