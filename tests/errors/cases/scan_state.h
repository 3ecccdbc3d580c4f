// A step hands on a state of another width than it got.
#pragma once

#include <fovea.h>

constexpr void scan_state(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"steps", "batch", 8}), start = s.input("start", {"batch", 16});
    auto y = scan(x, start, [&](fovea::Tensor value, fovea::Tensor) {
        fovea::Tensor next = tanh(linear(s / "rnn", value, 32));
        return fovea::Step{next, next};
    });
    s.output("y", y.value);
}
