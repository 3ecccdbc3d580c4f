// BLEU as the d2l chapters define it (after Papineni et al. 2002), for one sentence.
#pragma once

#include <string>
#include <vector>

namespace fovea::runtime {

/// exp(min(0, 1 - |reference| / |prediction|)) times the product of p_n^(0.5^n) over n = 1..k;
/// p_n is the share of the prediction's n-grams that match one of the reference's, each used once.
/// Zero where the prediction is too short for a k-gram.
double bleu(const std::vector<std::string>& prediction, const std::vector<std::string>& reference,
            int k);

}  // namespace fovea::runtime
