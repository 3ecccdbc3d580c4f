// A weight for every token needs to know how many tokens there are.
#pragma once

#include "models/transformer.h"

constexpr void src_len_open(fovea::Scope s) {
    using namespace fovea::models;
    transformer_encoder(s, {.norm_over = NormOver::tokens_and_features});
}
