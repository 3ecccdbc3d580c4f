// What is refused of tensors of float32, bfloat16 and float16 that meet.
#include "tests/errors/wrong_calls.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Tensor half(Given& g) { return cast(g.x, f16); }
Tensor brain(Given& g) { return cast(g.x, bf16); }

const std::vector<WrongCall> kTypes = {
    {"cannot add", "[batch, 6, 4] and [batch, 6, 4]: f16 is not f32 (use cast)",
     [](Given& g) { half(g) + g.x; }},
    {"cannot mul", "bf16 is not f16 (use cast)", [](Given& g) { brain(g) * half(g); }},
    {"einsum", "expected operands of one type, f32, bf16 or f16, got f16 bf16",
     [](Given& g) { einsum("b i d, b j d -> b i j", half(g), brain(g)); }},
    {"attention", "q, k and v must be f32, bf16 or f16, all of one type, got f16, f16, bf16",
     [](Given& g) { attention(half(g), half(g), brain(g), dot_product); }},
    {"sum", "expected f32, bf16 or f16 (use cast)", [](Given& g) { sum(g.ids, 0); }},
    {"linear", "of f32, bf16 or f16, got i32 [batch, len] (did you forget embedding?)",
     [](Given& g) { linear(g.s / "dense", g.ids, 3); }},
    {"parameter", "parameters are f32, bf16 or f16, not i32",
     [](Given& g) { g.s.parameter("p", {3}, Initial::zeros, i32); }},
};

}  // namespace

TEST_CASE("tensors of two types of float do not meet without a cast") {
    check_calls("wrong_types_test.cpp", kTypes);
}
