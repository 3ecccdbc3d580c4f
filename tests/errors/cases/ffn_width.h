// The second layer of the feed-forward network gives the wrong width.
#pragma once

#include "models/transformer.h"

constexpr fovea::Tensor wrong_ffn(fovea::Scope s, fovea::Tensor x, fovea::Dim ffn) {
    return linear(s / "dense2", relu(linear(s / "dense1", x, ffn)), ffn);
}

constexpr void ffn_width(fovea::Scope s) {
    fovea::models::TransformerSettings c;
    fovea::Tensor x = s.input("x", {"batch", "length", c.hidden});
    fovea::Scope block = s / "block" + 0;
    fovea::Tensor y = wrong_ffn(block / "ffn", x, c.ffn);
    s.output("y", fovea::models::add_norm(block / "addnorm2", x, y, 0));
}
