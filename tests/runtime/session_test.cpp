// Parameters and instances: layout, initial values, binding, rebinding, placement and runs.
#include "runtime/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/error.h"
#include "tests/runtime/small_model.h"

using namespace fovea::runtime;
using fovea::test::small_model;

namespace {

const DimValues kParameterDims = {{"in", 3}, {"vocab", 5}};

}  // namespace

TEST_CASE("parameters: flat, aligned, found by name") {
    Parameters parameters(small_model(), {{"in", 3}, {"vocab", 5}, {"batch", 2}});
    CHECK(parameters.count() == 3);
    CHECK(parameters.dims() == kParameterDims);
    CHECK(parameters.offset(1) == 16);
    CHECK(parameters.offset(2) == 16 + 32);
    CHECK(parameters.flat_size() == 16 + 32 + 16);
    CHECK(parameters.shape(1) == std::vector<std::int64_t>{5, 4});
    CHECK(parameters.values(1).size() == 20);
    CHECK(parameters.find("table") == 1);
    CHECK(parameters.find("nothing") == -1);
    CHECK(reinterpret_cast<std::uintptr_t>(parameters.values(2).data()) % 64 == 0);
}

TEST_CASE("parameters: those that are frozen come last, in chunks of their own") {
    Model model = small_model();
    model.parameters[0].frozen = true;
    Parameters parameters(model, kParameterDims);
    CHECK(parameters.offset(1) == 0);
    CHECK(parameters.offset(2) == 32);
    CHECK(parameters.trained_size() == Parameters::kChunk);
    CHECK(parameters.offset(0) == Parameters::kChunk);
    CHECK(parameters.flat_size() == Parameters::kChunk + 16);
    parameters.initialize(5);
    CHECK(parameters.values(0)[0] == 1.0F);
    model.parameters[1].frozen = model.parameters[2].frozen = true;
    CHECK(Parameters(model, kParameterDims).trained_size() == 0);
}

TEST_CASE("parameters: dims they mention must be given") {
    CHECK_THROWS_WITH_AS(
        Parameters(small_model(), {{"in", 3}}),
        "the size of 'vocab' is not known, which parameter 'table' [vocab, 4] needs", UserError);
}

TEST_CASE("parameters: initial values") {
    Parameters parameters(small_model(), kParameterDims), again(small_model(), kParameterDims);
    parameters.initialize(5);
    again.initialize(5);
    for (float value : parameters.values(0)) CHECK(value == 1.0F);
    const auto table = parameters.values(1);
    for (std::size_t i = 0; i < 20; ++i) CHECK((table[i] == 0.0F) == (i / 4 == 1));
    for (float value : parameters.values(2)) CHECK(std::abs(value) <= 0.5F);
    for (std::size_t i = 0; i < parameters.flat_size(); ++i) {
        CHECK(parameters.flat()[i] == again.flat()[i]);
    }
    again.initialize(6);
    CHECK(again.values(2)[0] != parameters.values(2)[0]);
    for (std::size_t gap = 3; gap < 16; ++gap) CHECK(parameters.flat()[gap] == 0.0F);
}

TEST_CASE("parameters: Xavier's bound") {
    Model model;
    model.name = "linear";
    model.parameters = {{.name = "w", .shape = {30, 20}, .initial = Initial::xavier_uniform}};
    Parameters parameters(model, {});
    parameters.initialize(1);
    const float bound = std::sqrt(6.0F / 50.0F);
    float largest = 0;
    for (float value : parameters.values(0)) largest = std::max(largest, std::abs(value));
    CHECK(largest <= bound);
    CHECK(largest > 0.98F * bound);
}

TEST_CASE("instance: binds, runs, prepares once, and again when told") {
    Parameters parameters(small_model(), kParameterDims);
    parameters.initialize(1);
    Instance instance(small_model(), "forward", parameters);
    CHECK_THROWS_AS(instance.input<float>("x"), InternalError);
    CHECK_THROWS_AS(instance.run(), InternalError);
    const int before = fovea::test::prepare_count();
    for (const std::int64_t batch : {2, 40, 2, 2}) {
        instance.bind({{"batch", batch}});
        for (std::int64_t i = 0; i < batch * 3; ++i) {
            instance.input<float>("x")[i] = static_cast<float>(i);
        }
        std::fill_n(instance.input<std::int32_t>("ids"), batch, 4);
        instance.run();
        CHECK(instance.output<float>("y")[batch * 3 - 1] == static_cast<float>(batch * 3 - 1));
        CHECK(instance.workspace_bytes() == (batch == 40 ? 192 : 64));
        CHECK(instance.prepared_bytes() == 64);
    }
    CHECK(fovea::test::prepare_count() == before + 1);
    parameters.values(0)[2] = 10;
    instance.parameters_changed();
    instance.run();
    CHECK(instance.output<float>("y")[5] == 50);
    CHECK(fovea::test::prepare_count() == before + 2);
}

TEST_CASE("instance: every instance over the same parameters learns that they changed") {
    Parameters parameters(small_model(), kParameterDims);
    parameters.initialize(1);
    Instance first(small_model(), "forward", parameters);
    Instance second(small_model(), "forward", parameters);
    const auto last_value = [](Instance& instance) {
        instance.bind({{"batch", 1}});
        std::fill_n(instance.input<float>("x"), 3, 1.0F);
        std::fill_n(instance.input<std::int32_t>("ids"), 1, 4);
        instance.run();
        return instance.output<float>("y")[2];
    };
    CHECK(last_value(first) == 1);
    CHECK(last_value(second) == 1);
    parameters.values(0)[2] = 10;
    first.parameters_changed();
    CHECK(last_value(second) == 10);
    CHECK(last_value(first) == 10);
    parameters.initialize(1);
    CHECK(last_value(first) == 1);
    CHECK(last_value(second) == 1);
}

TEST_CASE("instance: dims, names and inputs that are wrong") {
    Parameters parameters(small_model(), kParameterDims);
    CHECK_THROWS_WITH_AS(Instance(small_model(), "decode", parameters),
                         "small has no program 'decode'", UserError);
    Instance instance(small_model(), "forward", parameters);
    CHECK_THROWS_WITH_AS(instance.bind({}),
                         "the size of 'batch' is not known, which program 'forward' of small needs",
                         UserError);
    CHECK_THROWS_WITH_AS(instance.bind({{"batch", 2}, {"in", 4}}),
                         "'in' is 4 here, but 3 in the parameters", UserError);
    CHECK_THROWS_WITH_AS(instance.bind({{"batch", -2}}), "the size of 'batch' is negative: -2",
                         UserError);
    CHECK_THROWS_AS(instance.bind({{"batch", std::int64_t{1} << 55}}), UserError);
    CHECK_THROWS_AS(instance.run(), InternalError);  // still not bound
    instance.bind({{"batch", 1}});
    CHECK_THROWS_WITH_AS(instance.input<float>("z"), "program 'forward' has no input 'z'",
                         UserError);
    CHECK_THROWS_AS(instance.output<float>("x"), UserError);
    CHECK_THROWS_AS(instance.place_output("x", nullptr), UserError);
    Model of_ids = small_model();
    for (Program& program : of_ids.programs)
        for (TensorSpec& output : program.outputs)
            if (output.name == "y") output.dtype = DType::i32;
    Instance whole(of_ids, "forward", parameters);
    whole.bind({{"batch", 2}});
    CHECK_THROWS_WITH_AS(
        whole.output_values("y"),
        "output 'y' of program 'forward' is i32, not f32: read it with output<T>(name)", UserError);
    CHECK(instance.has_input("ids"));
    CHECK_FALSE(instance.has_output("ids"));
    instance.input<std::int32_t>("ids")[0] = 5;
    CHECK_THROWS_WITH_AS(instance.run(), "ids[0] is 5, expected 0 to 4", UserError);
}

TEST_CASE("instance: an output placed elsewhere stays there after rebinding") {
    Parameters parameters(small_model(), kParameterDims);
    parameters.initialize(1);
    Instance instance(small_model(), "forward", parameters);
    std::vector<float> y(64, -1.0F);
    instance.place_output("y", y.data());
    for (const std::int64_t batch : {1, 20}) {
        instance.bind({{"batch", batch}});
        std::fill_n(instance.input<float>("x"), batch * 3, 2.0F);
        std::fill_n(instance.input<std::int32_t>("ids"), batch, 0);
        instance.run();
        CHECK(instance.output<float>("y") == y.data());
        CHECK(y[static_cast<std::size_t>(batch) * 3 - 1] == 2.0F);
        CHECK(y[static_cast<std::size_t>(batch) * 3] == -1.0F);
    }
}

namespace {

/// total, a state of the session, and seen, one of the parameters: both grow with x.
void grow(const Call& call) {
    const auto* total = static_cast<const float*>(call.tensors[2]);
    const auto* seen = static_cast<const float*>(call.tensors[0]);
    const auto* x = static_cast<const float*>(call.tensors[1]);
    static_cast<float*>(call.tensors[4])[0] = seen[0] + 1;
    for (std::int64_t i = 0; i < call.dims[0]; ++i)
        static_cast<float*>(call.tensors[3])[i] = total[i] + x[i];
}

Model model_with_states() {
    const std::vector<Extent> shape = {Extent::dim(0)};
    Model model;
    model.name = "states";
    model.dims = {"batch"};
    model.parameters = {{.name = "seen", .shape = {1}, .frozen = true}};
    Program program;
    program.name = "forward";
    program.inputs = {{.name = "x", .shape = shape},
                      {.name = "total", .shape = shape, .state = true}};
    program.outputs = {{.name = "total", .shape = shape, .state = true},
                       {.name = "seen", .shape = {1}, .state = true}};
    program.run = grow;
    model.programs = {program};
    return model;
}

}  // namespace

TEST_CASE("instance: states are inputs and outputs, or are kept from run to run") {
    const Model model = model_with_states();
    Parameters parameters(model, {});
    for (bool keeps : {false, true}) {
        CAPTURE(keeps);
        const float before = parameters.values(0)[0];
        Instance instance(model, "forward", parameters);
        if (keeps) instance.keep_states();
        for (const std::int64_t batch : {1, 20, 1}) {
            instance.bind({{"batch", batch}});
            std::fill_n(instance.input<float>("x"), batch, 2.0F);
            if (!keeps) std::fill_n(instance.input<float>("total"), batch, 0.0F);
            const std::uint64_t version = parameters.version();
            for (int run = 1; run <= 3; ++run) {
                instance.run();
                CHECK(instance.output<float>("total")[batch - 1] == (keeps ? 2.0F * run : 2.0F));
            }
            CHECK((instance.output<float>("total") == instance.input<float>("total")) == keeps);
            CHECK((parameters.version() == version) == !keeps);
        }
        CHECK(parameters.values(0)[0] == before + (keeps ? 9 : 0));
    }
}

TEST_CASE("instance: an observer sees every kernel; empty batches run") {
    Parameters parameters(small_model(), kParameterDims);
    Instance instance(small_model(), "forward", parameters);
    instance.bind({{"batch", 0}});
    int seen = 0;
    Call call;
    call.observe = [](void* state, int kernel) { *static_cast<int*>(state) += kernel + 1; };
    call.observe_state = &seen;
    instance.run_call(call);
    CHECK(seen == 1);
}
