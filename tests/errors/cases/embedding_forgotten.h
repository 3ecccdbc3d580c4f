// Ids go into a layer.
#pragma once

#include <fovea.h>

constexpr void embedding_forgotten(fovea::Scope s) {
    fovea::Tensor ids = s.input("ids", {"batch", "length"}, fovea::i32);
    s.output("y", linear(s / "dense", ids, 8));
}
