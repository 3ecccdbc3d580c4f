// A step that reads more values from outside than the node of a loop has inputs.
#pragma once

#include <fovea.h>

constexpr void scan_reads(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"steps", "batch", 8}), start = s.input("start", {"batch", 8});
    fovea::Tensor shift[70];
    for (int i = 0; i < 70; ++i) shift[i] = s.parameter("shift", i, {8}, fovea::Initial::zeros);
    auto y = scan(x, start, [&](fovea::Tensor value, fovea::Tensor state) {
        for (const fovea::Tensor& by : shift) value = value + by;
        return fovea::Step{value, value + state};
    });
    s.output("y", y.value);
}
