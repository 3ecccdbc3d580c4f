// An id that a table does not have, more ids than axes, and a fraction beside ids.
#pragma once

#include <fovea.h>

constexpr void tables(fovea::Scope s) {
    using namespace fovea;
    Tensor x = s.input("x", {"batch", 2, "len", 8}), table = s.parameter("table", {16, 2});
    s.output("row", gather(table, full(*s.graph, {6}, 16, i32)));
    auto score = [&](Pair p) {
        const Tensor distance = minimum(maximum(p.i - p.j, 0), 15);
        return dot_product(p) + at(table, {distance, p.head, p.j});
    };
    s.output("seen", attention(x, x, x, score));
    s.output("halves", s.input("ids", {"batch"}, i32) * 0.5);
}
