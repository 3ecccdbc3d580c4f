// States that cannot be made, or become what they are not.
#include "tests/errors/wrong_calls.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::vector<WrongCall> kStates = {
    {"update", "neither a state nor a cache", [](Given& g) { g.s.update(g.x, g.x); }},
    {"update", "f32 [4], with f32 [batch, len]",
     [](Given& g) { g.s.update(g.s.state("mean", {4}), g.m); }},
    {"update", "ring, f32 [4], with i32 [4]",
     [](Given& g) { g.s.update(g.s.cache("ring", {4}), cast(g.v, i32)); }},
    {"block.mean", "updated twice",
     [](Given& g) {
         Scope block = g.s / "block";
         Tensor mean = block.state("mean", {4});
         block.update(mean, g.v);
         block.update(mean, g.v);
     }},
    {"mean", "an output has its name",
     [](Given& g) {
         g.s.output("mean", g.v);
         g.s.update(g.s.state("mean", {4}), g.v);
     }},
    {"update", "empty", [](Given& g) { g.s.update(g.s.state("mean", {4}), g.empty); }},
    {"a cache m", "a parameter or an input has this name",
     [](Given& g) { g.s.cache("m", {"batch", 4}); }},
    {"parameters are named mean", "pass the first parameter on",
     [](Given& g) {
         g.s.state("mean", {4});
         g.s.state("mean", {4});
     }},
    {"cache", "a size is 0", [](Given& g) { g.s.cache("ring", {0}); }},
    {"when_training", "f32 [4] and f32 [batch, len]", [](Given& g) { when_training(g.v, g.m); }},
    {"when_training", "i32 [4]", [](Given& g) { when_training(g.v, cast(g.v, i32)); }},
    {"batch_norm", "momentum", [](Given& g) { batch_norm(g.s, g.x, 1, {.momentum = 2}); }},
};

}  // namespace

TEST_CASE("states that cannot be kept are refused") {
    check_calls("wrong_states_test.cpp", kStates);
}
