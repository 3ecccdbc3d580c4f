// Deep modules give a long message, which must arrive whole.
#pragma once

#include <fovea.h>

constexpr fovea::Tensor innermost(fovea::Scope s, fovea::Tensor x) {
    return linear(s / "projection_of_the_innermost_module", x, fovea::Dim("inner_width", 24)) + x;
}
constexpr fovea::Tensor middle(fovea::Scope s, fovea::Tensor x) {
    return innermost(s / "the_module_in_the_middle_of_all_modules", x);
}
constexpr fovea::Tensor outer(fovea::Scope s, fovea::Tensor x) {
    return middle(s / "the_module_that_holds_the_middle_one", x);
}
constexpr void long_message(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"batch", "some_length", fovea::Dim("outer_width", 48)});
    s.output("y", outer(s / "the_outermost_module_of_this_model", x));
}
