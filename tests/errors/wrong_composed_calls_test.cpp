// So do the functions that are made of others.
#include "tests/errors/wrong_calls.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::vector<WrongCall> kComposed = {
    {"stack", "f32 [4]", [](Given& g) { stack({g.x, g.v}, 0); }},
    {"stack", "no axis 5", [](Given& g) { stack({g.x, g.x}, 5); }},
    {"stack", "empty", [](Given& g) { stack({g.x, g.empty}, 0); }},
    {"split", "7 positions of axis 1 of [batch, 6, 4]", [](Given& g) { split(g.x, {3, 4}, 1); }},
    {"split", "no axis 3", [](Given& g) { split(g.x, {3, 3}, 3); }},
    {"chunk", "4 does not divide axis 1 of [batch, 6, 4]", [](Given& g) { chunk<4>(g.x, 1); }},
    {"chunk", "2 does not divide axis 0", [](Given& g) { chunk<2>(g.x, 0); }},
    {"chunk", "no axis -4", [](Given& g) { chunk<2>(g.x, -4); }},
    {"tile", "no axis 3", [](Given& g) { tile(g.x, 3, 2); }},
    {"repeat_interleave", "no axis 3", [](Given& g) { repeat_interleave(g.x, 3, 2); }},
    {"flip", "no axis 0 in []", [](Given& g) { flip(g.one, 0); }},
    {"triu", "[4]", [](Given& g) { triu(g.v); }},
    {"tril", "[]", [](Given& g) { tril(g.one); }},
    {"one_hot", "f32 [batch, len]", [](Given& g) { one_hot(g.m, 3); }},
    {"gelu_tanh", "i32 [batch, len]", [](Given& g) { gelu_tanh(g.ids); }},
    {"silu", "bool [batch, len]", [](Given& g) { silu(g.seen); }},
    {"softplus", "i32 [batch, len]", [](Given& g) { softplus(g.ids); }},
    {"log_sigmoid", "i32 [batch, len]", [](Given& g) { log_sigmoid(g.ids); }},
    {"mish", "i32 [batch, len]", [](Given& g) { mish(g.ids); }},
    {"leaky_relu", "i32 [batch, len]", [](Given& g) { leaky_relu(g.ids); }},
    {"elu", "i32 [batch, len]", [](Given& g) { elu(g.ids); }},
    {"relu6", "i32 [batch, len]", [](Given& g) { relu6(g.ids); }},
    {"trunc", "i32 [batch, len]", [](Given& g) { trunc(g.ids); }},
    {"reciprocal", "i32 [batch, len]", [](Given& g) { reciprocal(g.ids); }},
    {"tan", "bool [batch, len]", [](Given& g) { tan(g.seen); }},
    {"atan", "i32 [batch, len]", [](Given& g) { atan(g.ids); }},
    {"mul", "bool [batch, len]", [](Given& g) { square(g.seen); }},
    {"le", "batch is not 6", [](Given& g) { clamp(g.x, g.m, 1); }},
    {"clamp", "empty", [](Given& g) { clamp(g.empty, 0, 1); }},
    {"div", "f32 first", [](Given& g) { g.ids % 0.5; }},
    {"div", "0 and 1", [](Given& g) { floor_divide(g.seen, 2); }},
    {"div", "f32 is not i32", [](Given& g) { remainder(g.m, g.ids); }},
    {"amin", "axis 2", [](Given& g) { amin(g.m, 2); }},
    {"any", "f32 [batch, len]", [](Given& g) { any(g.m, 0); }},
    {"all", "axis 2 of bool [batch, len]", [](Given& g) { all(g.seen, 2); }},
    {"argmax", "i32 [batch, len]", [](Given& g) { argmax(g.ids, 0); }},
    {"argmax", "16777217", [](Given& g) { argmax(g.s.input("z", {Dim(16777217)}), 0); }},
    {"argmin", "axis -3", [](Given& g) { argmin(g.m, -3); }},
    {"logsumexp", "axis 3", [](Given& g) { logsumexp(g.x, 3); }},
    {"log_softmax", "f32 []", [](Given& g) { log_softmax(g.one); }},
    {"variance", "i32 [batch, len]", [](Given& g) { variance(g.ids, 0); }},
    {"cumsum", "axis 3", [](Given& g) { cumsum(g.x, 3); }},
    {"cumprod", "i32 [batch, len]", [](Given& g) { cumprod(g.ids, 0); }},
    {"prod", "f32 []", [](Given& g) { prod(g.one, 0); }},
    {"rms_norm", "[4]", [](Given& g) { rms_norm(g.m, g.v); }},
    {"rms_norm", "last 4 axes", [](Given& g) { rms_norm(g.s, g.x, 4); }},
    {"rms_norm", "eps must be 0 or above", [](Given& g) { rms_norm(g.x, g.v, -1e-9); }},
    {"group_norm", "eps must be 0 or above", [](Given& g) { group_norm(g.s, g.x, 2, -1.0); }},
    {"group_norm", "4 groups", [](Given& g) { group_norm(g.s, g.x, 4); }},
    {"group_norm", "f32 [4]", [](Given& g) { group_norm(g.s, g.v, 2); }},
};

}  // namespace

TEST_CASE("functions made of others refuse wrong arguments") {
    check_calls("wrong_composed_calls_test.cpp", kComposed);
}
