// The encoder of the built-in `transformer`, with the names of its parameters.
#include "models/transformer.h"

using namespace fovea;

constexpr void encoder(Scope s, const models::TransformerSettings& c) {
    Tensor src = s.input("src", {"batch", c.src_len}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    s.output("output", models::encode(s / "encoder", c, src, src_lens));
}
