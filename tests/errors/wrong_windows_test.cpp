// What is refused of steps, windows, convolutions and pools.
#include "tests/errors/wrong_calls.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Tensor image(Given& g) { return g.s.input("image", {"batch", 6, 9, "width"}); }
Tensor line(Given& g) { return g.s.input("line", {"batch", 6, 9}); }
Tensor weight(Given& g, const Shape& shape) { return g.s.input("weight", shape); }

const std::vector<WrongCall> kWindows = {
    {"slice", "3 positions from 0 on, 3 apart, of axis 1 of [batch, 6, 4]",
     [](Given& g) { slice(g.x, 1, 0, 3, 3); }},
    {"slice", "1 positions from 6 on", [](Given& g) { slice(g.x, 1, 6, 1, 2); }},
    {"slice", "a step is 1 or more, not -1", [](Given& g) { slice(g.x, 1, 0, 3, -1); }},
    {"slice", "a step is 1 or more, not 0", [](Given& g) { slice(g.x, 1, 0, 3, 0); }},
    {"slice", "no axis 3", [](Given& g) { slice(g.x, 3, 0, 3, 2); }},
    {"windows", "no axis 3", [](Given& g) { windows(g.x, 3, 2); }},
    {"windows", "a window of 0", [](Given& g) { windows(g.x, 1, 0); }},
    {"windows", "a stride of 0", [](Given& g) { windows(g.x, 1, 2, {.stride = 0}); }},
    {"windows", "covers 7 positions, and axis 1 of [batch, 6, 4] has 6",
     [](Given& g) { windows(g.x, 1, 4, {.dilation = 2}); }},
    {"windows", "has (len-3) / 2 + 1 windows, which is not whole",
     [](Given& g) { windows(g.m, 1, 3, {.stride = 2}); }},
    {"windows", "at most 6 axes", [](Given& g) { windows(g.six, 1, 1); }},
    {"windows", "empty", [](Given& g) { windows(g.empty, 0, 1); }},
    {"windows", "no axis -4", [](Given& g) { unfold(g.x, -4, 2, 1); }},
    {"conv1d", "static, not len", [](Given& g) { conv1d(g.x, g.x, {.groups = "len"}); }},
    {"conv1d", "[batch, channels, length], got f32 [4]",
     [](Given& g) { conv1d(g.v, weight(g, {2, 6, 3})); }},
    {"conv1d", "got i32 [batch, len]", [](Given& g) { conv1d(g.ids, weight(g, {2, 6, 3})); }},
    {"conv1d", "1 group of [batch, 6, 9]", [](Given& g) { conv1d(line(g), weight(g, {2, 5, 3})); }},
    {"conv1d", "2 groups of [batch, 6, 9]",
     [](Given& g) { conv1d(line(g), weight(g, {2, 6, 3}), {.groups = 2}); }},
    {"conv1d", "4 groups do not divide the channels of [batch, 6, 9]",
     [](Given& g) { conv1d(line(g), weight(g, {2, 6, 3}), {.groups = 4}); }},
    {"conv1d", "3 groups do not divide the outputs of [4, 2, 3]",
     [](Given& g) { conv1d(line(g), weight(g, {4, 2, 3}), {.groups = 3}); }},
    {"conv1d", "a kernel has a static size of 1 or more, not that of [2, 6, taps]",
     [](Given& g) { conv1d(line(g), weight(g, {2, 6, "taps"})); }},
    {"conv1d", "a padding is 0 or more, not -1",
     [](Given& g) { conv1d(line(g), weight(g, {2, 6, 3}), {.padding = -1}); }},
    {"conv1d", "a window of 11 covers 11 positions, and axis 2 of [batch, 6, 9] has 9",
     [](Given& g) { conv1d(line(g), weight(g, {2, 6, 11})); }},
    {"conv1d", "a bias f32 [4] does not match",
     [](Given& g) { conv1d(line(g), weight(g, {2, 6, 3}), g.v); }},
    {"conv1d", "a dilation of 0",
     [](Given& g) { conv1d(g.s / "conv", line(g), 2, 3, {.dilation = 0}); }},
    {"conv1d", "0 groups", [](Given& g) { conv1d(g.s / "conv", line(g), 2, 3, {.groups = 0}); }},
    {"conv2d", "got f32 [batch, 6, 4]", [](Given& g) { conv2d(g.x, weight(g, {2, 6, 3, 3})); }},
    {"conv2d", "has (width-1) / 2 + 1 windows, which is not whole",
     [](Given& g) { conv2d(image(g), weight(g, {2, 6, 3, 3}), {.stride = 2, .padding = 1}); }},
    {"conv2d", "[4, 3, 3, 3]",
     [](Given& g) { conv2d(image(g), weight(g, {4, 3, 3, 3}), {.padding = 1}); }},
    {"conv2d", "got f32 [4]", [](Given& g) { conv2d(g.s / "conv", g.v, 2, 3); }},
    {"max_pool1d", "f32 []", [](Given& g) { max_pool1d(g.one, 2); }},
    {"max_pool1d", "a padding is from 0 to 1, half of the kernel of 3, not 2",
     [](Given& g) { max_pool1d(g.v, 3, {.padding = 2}); }},
    {"max_pool1d", "a window of 5", [](Given& g) { max_pool1d(g.v, 5); }},
    {"max_pool2d", "f32 [4]", [](Given& g) { max_pool2d(g.v, 2); }},
    {"avg_pool1d", "i32 [batch, len]", [](Given& g) { avg_pool1d(g.ids, 2); }},
    {"avg_pool2d", "f32 [1, 2, 3, 4, 5, 6]", [](Given& g) { avg_pool2d(g.six, 2); }},
};

}  // namespace

TEST_CASE("steps, windows, convolutions and pools refuse wrong arguments") {
    check_calls("wrong_windows_test.cpp", kWindows);
}
