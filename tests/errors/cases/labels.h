// The labels have the length of the source.
#pragma once

#include <fovea.h>

constexpr void labels(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"batch", "tgt_len", 8});
    fovea::Tensor labels = s.input("labels", {"batch", "src_len"}, fovea::i32);
    fovea::Tensor lens = s.input("lens", {"batch"}, fovea::i32);
    s.output("loss", cross_entropy(linear(s / "dense", x, "vocab"), labels, lens));
}
