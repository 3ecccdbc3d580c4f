// The generic program: runs from files, and a sentence with exit status 2 for every mistake.
#include "runtime/runner/runner_main.h"

#include <doctest/doctest.h>

#include <cstring>

#include "runtime/error.h"
#include "runtime/files/json.h"
#include "runtime/runner/bench_model.h"
#include "runtime/runner/bind_dims.h"
#include "runtime/runner/describe.h"
#include "runtime/runner/run_model.h"
#include "tests/runtime/counted_tensor.h"
#include "tests/runtime/small_model.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::counted_tensor;
using fovea::test::small_model;
using fovea::test::small_model_with_loss;

namespace {

const std::vector<std::int32_t> kIds = {0, 4, 7};

TensorView ids(std::size_t count, std::size_t start = 0) {
    return {"ids",
            "I32",
            {static_cast<std::int64_t>(count)},
            std::as_bytes(std::span(kIds).subspan(start, count))};
}

/// Runs a model on tensors in files; `outputs` holds what it wrote.
struct Case {
    fovea::test::TemporaryFolder folder;
    RunRequest request;
    std::vector<TensorView> weights = {
        counted_tensor("scale", {3}), counted_tensor("table", {5, 4}), counted_tensor("bias", {8})};

    SafetensorsFile file(const char* name, std::vector<TensorView> tensors) {
        write_safetensors(folder.file(name), std::move(tensors));
        return parse_safetensors(name, read_file(folder.file(name)));
    }

    SafetensorsFile run(const Model& model, std::vector<TensorView> inputs) {
        const SafetensorsFile input_file = file("inputs", std::move(inputs));
        const SafetensorsFile weight_file = file("weights", weights);
        run_model(model, request, input_file, &weight_file, folder.file("outputs"));
        return read_safetensors(folder.file("outputs"));
    }

    std::string complaint(const Model& model, std::vector<TensorView> inputs) {
        try {
            (void)run(model, std::move(inputs));
        } catch (const UserError& error) {
            return error.what();
        }
        return "accepted";
    }
};

std::vector<float> tensor_values(const SafetensorsFile& file, const char* name) {
    const TensorView* view = file.find(name);
    REQUIRE(view);
    std::vector<float> values(view->bytes.size() / sizeof(float));
    std::memcpy(values.data(), view->bytes.data(), view->bytes.size());
    return values;
}

/// The exit status of the command line.
int status_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "small");
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    return runner_main(static_cast<int>(arguments.size()), pointers.data(), small_model());
}

}  // namespace

TEST_CASE("run: dims come from shapes, outputs are written by name") {
    Case test;
    const SafetensorsFile outputs =
        test.run(small_model_with_loss(), {counted_tensor("x", {2, 3}), ids(2)});
    CHECK(outputs.tensors().size() == 2);
    CHECK(outputs.find("y")->shape == std::vector<std::int64_t>{2, 3});
    CHECK(tensor_values(outputs, "y") == std::vector<float>{1, 4, 9, 4, 10, 18});
    CHECK(tensor_values(outputs, "loss") == std::vector<float>{14, 32});
}

TEST_CASE("run: gradients from the loss") {
    Case test;
    test.request.gradients = true;
    test.request.train = true;  // without dropout there is one gradient program for both
    const auto outputs = test.run(small_model_with_loss(), {counted_tensor("x", {2, 3}), ids(2)});
    CHECK(outputs.tensors().size() == 4);
    CHECK(tensor_values(outputs, "scale.grad") == std::vector<float>{5, 7, 9});
    CHECK(tensor_values(outputs, "x.grad") == std::vector<float>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("run: gradients from cotangents, of which one must be there") {
    Case test;
    test.request.gradients = true;
    const TensorView x = counted_tensor("x", {1, 3});
    const auto outputs = test.run(small_model(), {x, ids(1), counted_tensor("y.grad", {1, 3})});
    CHECK(tensor_values(outputs, "scale.grad") == std::vector<float>{1, 4, 9});
    CHECK(test.complaint(small_model(), {x, ids(1)}) ==
          "gradients need a model with a loss, or the gradient of an output among the inputs: "
          "'inputs' has none of 'y.grad'");
    CHECK(test.complaint(small_model(), {x, ids(1), counted_tensor("y.grad", {1, 2})}) ==
          "'in' is 3 in input 'x' in 'inputs', but 2 in input 'y.grad' in 'inputs'");
}

TEST_CASE("run: --only chooses outputs, and frees from inputs they do not need") {
    Case test;
    test.request.only = {"y"};
    const auto outputs = test.run(small_model_with_loss(), {counted_tensor("x", {2, 3})});
    CHECK(outputs.tensors().size() == 1);
    CHECK(tensor_values(outputs, "y") == std::vector<float>{1, 4, 9, 4, 10, 18});
    test.request.only = {"loss"};
    CHECK(test.complaint(small_model_with_loss(), {counted_tensor("x", {2, 3})}) ==
          "'inputs' lacks the input 'ids'");
    test.request.only = {"los"};
    CHECK(test.complaint(small_model_with_loss(), {counted_tensor("x", {2, 3}), ids(2)}) ==
          "'los' is no output; did you mean 'loss'?");
    test.request.only = {"y"};
    test.request.gradients = true;
    CHECK(
        test.run(small_model_with_loss(), {counted_tensor("x", {2, 3}), ids(2)}).tensors().size() ==
        3);
    test.request.only = {"y", "x.grad"};
    CHECK(
        test.run(small_model_with_loss(), {counted_tensor("x", {2, 3}), ids(2)}).tensors().size() ==
        2);
}

TEST_CASE("run: inputs and weights that do not fit") {
    Case test;
    const Model& model = small_model();
    CHECK(test.complaint(model, {ids(2)}) == "'inputs' lacks the input 'x'");
    CHECK(test.complaint(model, {counted_tensor("x", {2, 4}), ids(2)}) ==
          "'in' is 4 in input 'x' in 'inputs', but 3 in parameter 'scale' in 'weights'");
    CHECK(test.complaint(model, {counted_tensor("x", {2, 3}), ids(1)}) ==
          "'batch' is 2 in input 'x' in 'inputs', but 1 in input 'ids' in 'inputs'");
    CHECK(test.complaint(model, {counted_tensor("x", {6}), ids(2)}) ==
          "input 'x' in 'inputs' has shape [6], expected [batch, in]");
    CHECK(test.complaint(model, {counted_tensor("x", {1, 3}), ids(1, 2)}) ==
          "ids[0] is 7, expected 0 to 4");
    TensorView floats = counted_tensor("ids", {2});
    CHECK(test.complaint(model, {counted_tensor("x", {2, 3}), floats}) ==
          "input 'ids' in 'inputs' has dtype F32, expected I32");
    test.weights.pop_back();
    CHECK(test.complaint(model, {counted_tensor("x", {2, 3}), ids(2)}) ==
          "'weights' lacks parameter 'bias' of small");
    test.weights.push_back(counted_tensor("bias", {7}));
    CHECK(test.complaint(model, {counted_tensor("x", {2, 3}), ids(2)}) ==
          "parameter 'bias' in 'weights' has shape [7], expected [8]");
    const SafetensorsFile inputs = test.file("inputs", {counted_tensor("x", {2, 3}), ids(2)});
    CHECK_THROWS_WITH_AS(run_model(model, {}, inputs, nullptr, test.folder.file("outputs")),
                         "small has 3 parameters ('scale', …); give them with --weights FILE",
                         UserError);
}

TEST_CASE("bind_dims: sizes that are sums and products follow last, and are checked") {
    Model model;
    model.dims = {"len"};
    const TensorSpec twice{.name = "twice", .shape = {Extent(2) * Extent::dim(0) + 1}};
    const TensorSpec once{.name = "once", .shape = {Extent::dim(0)}};
    const std::vector<std::int64_t> nine = {9}, four = {4}, five = {5};
    DimBinder binder(model);
    binder.add(twice, nine, "twice");
    CHECK(binder.finish() == DimValues{{"len", 4}});
    binder.add(once, four, "once");
    CHECK(binder.finish() == DimValues{{"len", 4}});
    DimBinder other(model);
    other.add(twice, nine, "twice");
    other.add(once, five, "once");
    CHECK_THROWS_WITH_AS((void)other.finish(),
                         "twice has shape [9], expected [2*len+1] where 2*len+1 is 11", UserError);
}

TEST_CASE("bind_dims: a dim of a product follows from the others, or none does") {
    Model model;
    model.dims = {"n", "m"};
    const TensorSpec product{.name = "x", .shape = {Extent::dim(0) * Extent::dim(1) + 1}};
    const TensorSpec one{.name = "y", .shape = {Extent::dim(0)}};
    const TensorSpec square{.name = "z", .shape = {Extent::dim(1) * Extent::dim(1)}};
    const std::vector<std::int64_t> sixteen = {16}, fifteen = {15}, three = {3};
    const auto bound = [&](const TensorSpec& spec, const std::vector<std::int64_t>& shape) {
        DimBinder binder(model);
        binder.add(spec, shape, "x");
        binder.add(one, three, "y");
        return binder.finish();
    };
    CHECK(bound(product, sixteen) == DimValues{{"n", 3}, {"m", 5}});
    CHECK_THROWS_WITH_AS((void)bound(product, fifteen),
                         "x has shape [15], expected [n*m+1]: no size 'm' makes n*m+1 15",
                         UserError);
    CHECK(bound(square, sixteen) == DimValues{{"n", 3}});
    const std::vector<std::int64_t> none = {0};
    DimBinder binder(model);
    binder.add(product, none, "x");
    CHECK(binder.finish().empty());
}

TEST_CASE("set_dim: NAME=N") {
    DimValues dims;
    set_dim(small_model(), "batch=7", dims);
    CHECK(dims == DimValues{{"batch", 7}});
    CHECK_THROWS_WITH_AS(set_dim(small_model(), "bach=7", dims),
                         "small has no dim 'bach'; did you mean 'batch'?", UserError);
    for (const char* text : {"batch", "batch=", "batch=0", "batch=x", "batch=-1"}) {
        CHECK_THROWS_AS(set_dim(small_model(), text, dims), UserError);
    }
}

TEST_CASE("describe: shapes and the number of parameters") {
    CHECK(parameter_count(small_model()).text(small_model().dims) == "in+4*vocab+8");
    const std::string text = describe(small_model());
    CHECK(text.find("parameters: in+4*vocab+8 values in 3 tensors") != std::string::npos);
    CHECK(text.find("  table  f32 [vocab, 4]\n") != std::string::npos);
    const Json json = parse_json(describe_json(small_model()).text());
    CHECK(json.find("parameters")->array()[1].find("shape")->array()[1].integer() == 4);
    CHECK(json.find("programs")->array()[1].find("name")->string() == "gradient");
}

TEST_CASE("bench: random inputs pass the program's check") {
    Parameters parameters(small_model(), {{"in", 3}, {"vocab", 5}});
    Instance instance(small_model(), "forward", parameters);
    instance.bind({{"batch", 200}});
    fill_random(instance, 1);
    std::vector<int> seen(5);
    for (int i = 0; i < 200; ++i) {
        ++seen.at(static_cast<std::size_t>(instance.input<std::int32_t>("ids")[i]));
    }
    for (int count : seen) CHECK(count > 0);
    const DimValues dims = default_dims(small_model(), {{"in", 3}});
    CHECK(dims == DimValues{{"batch", 16}, {"in", 3}, {"vocab", 1000}});
    Model decoder;
    decoder.dims = {"batch", "len", "steps"};
    CHECK(default_dims(decoder, {{"len", 512}, {"batch", 900}}) ==
          DimValues{{"batch", 900}, {"len", 512}, {"steps", 512}});
    const auto times = bench_model(small_model(), dims);
    REQUIRE(times.size() == 2);
    CHECK(times[0].runs >= 5);
    CHECK(times[0].p10_ms <= times[0].median_ms);
    CHECK(bench_json(small_model(), dims, times).find("results")->array().size() == 2);
    CHECK(bench_text(small_model(), dims, times).find("gradient") != std::string::npos);
}

TEST_CASE("runner: exit statuses") {
    Case test;
    (void)test.file("in", {counted_tensor("x", {2, 3}), ids(2)});
    (void)test.file("w", test.weights);
    const std::string in = test.folder.file("in"), w = test.folder.file("w");
    const std::string out = test.folder.file("out");
    CHECK(status_of({"run", "--inputs", in, "--outputs=" + out, "--weights", w}) == 0);
    CHECK(read_safetensors(out).find("y"));
    CHECK(status_of({}) == 2);
    CHECK(status_of({"rum"}) == 2);
    CHECK(status_of({"quantize", "--weights", w}) == 2);
    CHECK(status_of({"run", "--inputs", in}) == 2);
    CHECK(status_of({"run", "--inputs", in, "--outputs", out}) == 2);
    CHECK(status_of({"run", "--inputs", "none", "--outputs", out}) == 2);
    CHECK(status_of({"run", "--inputs", in, "--outputs", "/dev/full", "--weights", w}) == 2);
    CHECK(status_of({"run", "--inputs", in, "--outputs", out, "--weights", w, "--gradients"}) == 2);
    CHECK(status_of({"bench", "--set-dim", "bad=3"}) == 2);
    CHECK(status_of({"bench", "--threads", "0"}) == 2);
    CHECK(report_errors("test", []() -> int { throw InternalError("a bug"); }) == 3);
    CHECK(report_errors("test", []() -> int { throw 7; }) == 3);
}
