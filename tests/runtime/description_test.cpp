// A model from the tables of its generated file.
#include "runtime/description.h"

#include <doctest/doctest.h>

#include "runtime/program.h"

using namespace fovea::runtime;

namespace {

void run(const Call&) {}
void check_nothing(const Call&) {}

constexpr TensorRow kInputs[] = {{"x", DType::f32, "[batch, 8]"}, {"lens", DType::i32, "[batch]"}};
constexpr TensorRow kOutputs[] = {
    {"y", DType::bf16, "[batch, 8]"}, {"z", DType::f32, "[]"}, {"w", DType::f32, "[8]"}};
constexpr int kNeeds[] = {0, 1, -1, -1, 1, -1};
constexpr BufferRow kBuffers[] = {{"b", DType::boolean, "[2*batch]", 1, 3, true}};
constexpr const char* kKernels[] = {"first", "second"};
constexpr CheckRow kComputed[] = {{0, true, "8*batch", "small.cpp:3: the lengths of attention"}};
constexpr ProgramRow kPrograms[] = {
    {"forward", kInputs, kOutputs, kNeeds, kBuffers, kKernels, kComputed, check_nothing},
    {"empty", {}, {}, {}, {}, {}, {}, nullptr},
};
constexpr const char* kDims[] = {"batch"};
constexpr SettingRow kSettings[] = {{"hidden", "8"}};
constexpr ParameterRow kParameters[] = {{"w", DType::f32, "[8]", Initial::normal, 16, 3}};
constexpr AliasRow kAliases[] = {{"tied", "w"}};
constexpr ProgramCode kCode[] = {run, nullptr};
constexpr IsaPart kParts[] = {{"baseline", kCode}};
constexpr Description kDescription = {"small",   kDims,    kSettings, kParameters,
                                      kPrograms, kAliases, kParts};

}  // namespace

TEST_CASE("a model has what the tables of its file say") {
    static const Model& model = new_model(kDescription);
    CHECK(model.name == "small");
    CHECK(model.isa == "baseline");
    CHECK(model.dims == std::vector<std::string>{"batch"});
    REQUIRE(model.settings.size() == 1);
    CHECK(model.settings[0].value == "8");
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
    CHECK(program.buffers[0].last == 3);
    CHECK(program.kernels == std::vector<std::string>{"first", "second"});
    CHECK((program.run == run));
    REQUIRE(program.computed.size() == 1);
    CHECK(program.computed[0].lengths);
    CHECK(program.computed[0].limit.value(std::vector<std::int64_t>{2}) == 16);
    CHECK(program.check_inputs);
}
