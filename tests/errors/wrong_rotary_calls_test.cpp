// Rotary positions of what cannot be turned.
#include "tests/errors/wrong_calls.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Tensor heads(Given& g) { return g.s.input("heads", {"batch", 2, "len", 8}); }
Tensor positions(Given& g, const Shape& shape) { return g.s.input("at", shape, i32); }

const std::vector<WrongCall> kRotary = {
    {"rotary", "[4]", [](Given& g) { rotary(g.v); }},
    {"rotary", "not static: len", [](Given& g) { rotary(g.m); }},
    {"rotary", "i32 [batch, len]", [](Given& g) { rotary(g.ids, {.width = 2}); }},
    {"rotary", "3 is odd", [](Given& g) { rotary(g.x, {.width = 3}); }},
    {"rotary", "50 / 4 is not a whole number",
     [](Given& g) { rotary_table(g.s, "len", Dim(50) / Dim(4)); }},
    {"rotary", "[6, 3]", [](Given& g) { rotary(g.x, {.width = 6}); }},
    {"rotary", "theta", [](Given& g) { rotary(g.x, {.theta = 1}); }},
    {"rotary", "f32 [batch, len]", [](Given& g) { rotary(heads(g), g.m); }},
    {"rotary", "i32 []", [](Given& g) { rotary(heads(g), positions(g, {})); }},
    {"rotary", "[6, 4]", [](Given& g) { rotary(heads(g), positions(g, {6})); }},
    {"rotary", "[3, len, 4]", [](Given& g) { rotary(heads(g), positions(g, {3, "len"})); }},
    {"rotary", "an offset of 2",
     [](Given& g) { rotary(heads(g), positions(g, {"len"}), {.offset = 2}); }},
    {"rotary", "the factor",
     [](Given& g) { rotary(g.x, {.scaling = {.rope_type = RotaryScale::linear, .factor = 0}}); }},
    {"rotary", "high_freq_factor",
     [](Given& g) {
         rotary(g.x, {.scaling = {.rope_type = RotaryScale::llama3, .high_freq_factor = 1}});
     }},
    {"rotary", "original_max_position_embeddings",
     [](Given& g) {
         rotary(g.x, {.scaling = {.rope_type = RotaryScale::yarn,
                                  .original_max_position_embeddings = 0}});
     }},
    {"rotary", "beta_fast",
     [](Given& g) {
         rotary(g.x, {.scaling = {.rope_type = RotaryScale::yarn, .beta_fast = 0.5}});
     }},
};

}  // namespace

TEST_CASE("what cannot be turned is refused") {
    check_calls("wrong_rotary_calls_test.cpp", kRotary);
}
