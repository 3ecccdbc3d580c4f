// The heads do not divide the width.
#pragma once

#include "models/transformer.h"

constexpr void heads(fovea::Scope s) {
    fovea::models::transformer_encoder(s, {.hidden = {"hidden", 100}, .heads = 3});
}
