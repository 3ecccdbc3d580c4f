// Values of another graph, of a pair behind its score, and an axis of positions that is not there.
#pragma once

#include <fovea.h>

constexpr void strangers(fovea::Scope s) {
    fovea::Graph other;
    fovea::Tensor w = fovea::Scope{&other}.parameter("w", {4});
    fovea::Tensor x = s.input("x", {"batch", 6, 4}), q;
    s.output("scaled", x * w);
    fovea::Tensor y = attention(x, x, x, [&](fovea::Pair p) {
        q = p.q;
        return fovea::dot_product(p);
    });
    s.output("sum", y + q);
    s.output("positions", iota(*s.graph, {6, 1}, 3));
}
