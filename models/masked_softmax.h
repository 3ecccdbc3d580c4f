// Softmax over the keys inside the valid lengths (d2l, "Attention Scoring Functions").
#pragma once

#include <fovea.h>

#include "models/valid_lens.h"

namespace fovea::models {

struct MaskedSoftmaxSettings {
    int lens_rank = 1;  // 1: a length for every sequence; 2: one for every query

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("lens_rank", lens_rank);
    }
};

constexpr void masked_softmax(Scope s, const MaskedSoftmaxSettings& c) {
    Tensor scores = s.input("scores", {"batch", "queries", "keys"});
    Tensor valid_lens = valid_lens_input(s, c.lens_rank);
    s.output("weights", fovea::masked_softmax(scores, padding(valid_lens)));
}

}  // namespace fovea::models
