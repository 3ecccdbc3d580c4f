// A model from the tables of its generated file.
#include "runtime/description.h"

#include <doctest/doctest.h>

#include "runtime/program.h"

using namespace fovea::runtime;

namespace {

void run(const Call&) {}
void check_nothing(const Call&) {}

constexpr int kNeeds[] = {0, 1, -1, -1, 1, -1};
constexpr ProgramRow kPrograms[] = {
    {"forward", "f32 [batch, 8] x\0i32 [batch] lens\0", "bf16 [batch, 8] y\0f32 [] z\0f32 [8] w\0",
     kNeeds, "prepared bool [2*batch] b\0", "first\0second\0",
     "0 lengths 8*batch small.cpp:3: the lengths of attention\0", check_nothing},
    {"empty", "", "", {}, "", "", "", nullptr},
};
constexpr ProgramCode kCode[] = {run, nullptr};
constexpr IsaPart kParts[] = {{"baseline", kCode}};
constexpr Description kDescription = {
    "small",
    "batch\0",
    "hidden 8\0dropout 0.1 training\0bias true default\0smoothing 0 default training\0",
    "f32 [8] normal 16 3 w\0",
    kPrograms,
    "tied\0w\0",
    kParts};

}  // namespace

TEST_CASE("a model has what the tables of its file say") {
    static const Model& model = new_model(kDescription);
    CHECK(model.name == "small");
    CHECK(model.isa == "baseline");
    CHECK(model.dims == std::vector<std::string>{"batch"});
    REQUIRE(model.settings.size() == 4);
    CHECK(model.settings[0].name == "hidden");
    CHECK(model.settings[0].value == "8");
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(model.settings[i].is_default == (i >= 2));
        CHECK(model.settings[i].in_training == (i == 1 || i == 3));
    }
    CHECK(model.settings[3].value == "0");
    REQUIRE(model.parameters.size() == 1);
    CHECK(model.parameters[0].zero_row == 3);
    REQUIRE(model.aliases.size() == 1);
    CHECK(model.aliases[0].parameter == "w");
    REQUIRE(model.programs.size() == 2);
    CHECK(model.programs[1].needs.empty());
    CHECK_FALSE(model.programs[1].check_inputs);
}

TEST_CASE("a program has what its row says") {
    static const Model& model = new_model(kDescription);
    const Program& program = model.programs[0];
    CHECK(program.inputs[1].name == "lens");
    CHECK(program.outputs[0].dtype == DType::bf16);
    CHECK(program.needs == std::vector<std::vector<int>>{{0, 1}, {}, {1}});
    REQUIRE(program.buffers.size() == 1);
    CHECK(program.buffers[0].prepared);
    CHECK(program.buffers[0].dtype == DType::boolean);
    CHECK(program.kernels == std::vector<std::string>{"first", "second"});
    CHECK((program.run == run));
    REQUIRE(program.computed.size() == 1);
    CHECK(program.computed[0].lengths);
    CHECK(program.computed[0].of == "small.cpp:3: the lengths of attention");
    CHECK(program.computed[0].limit.value(std::vector<std::int64_t>{2}) == 16);
    CHECK(program.check_inputs);
}
