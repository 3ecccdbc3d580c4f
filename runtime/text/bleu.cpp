// d2l's `bleu` (Dive into Deep Learning, section 10.7.6).
#include "bleu.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace fovea::runtime {

namespace {

using BleuWords = std::vector<std::string>;

std::map<BleuWords, int> count_ngrams(const BleuWords& words, std::size_t n) {
    std::map<BleuWords, int> counts;
    for (std::size_t i = 0; i + n <= words.size(); ++i) {
        const auto begin = words.begin() + static_cast<std::ptrdiff_t>(i);
        ++counts[BleuWords(begin, begin + static_cast<std::ptrdiff_t>(n))];
    }
    return counts;
}

// The share of the prediction's n-grams that the reference has too.
double precision(const BleuWords& prediction, const BleuWords& reference, std::size_t n) {
    const std::map<BleuWords, int> in_reference = count_ngrams(reference, n);
    int matches = 0;
    for (const auto& [ngram, count] : count_ngrams(prediction, n)) {
        const auto found = in_reference.find(ngram);
        if (found != in_reference.end()) matches += std::min(count, found->second);
    }
    return matches / static_cast<double>(prediction.size() - n + 1);
}

}  // namespace

double bleu(const BleuWords& prediction, const BleuWords& reference, int k) {
    if (k < 1 || prediction.size() < static_cast<std::size_t>(k)) return 0;
    const double length_ratio =
        static_cast<double>(reference.size()) / static_cast<double>(prediction.size());
    double score = std::exp(std::min(0.0, 1 - length_ratio));
    for (int n = 1; n <= k; ++n) {
        const double p = precision(prediction, reference, static_cast<std::size_t>(n));
        score *= std::pow(p, std::pow(0.5, n));
    }
    return score;
}

}  // namespace fovea::runtime
