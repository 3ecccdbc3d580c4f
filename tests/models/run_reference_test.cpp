// `fovea run --target reference`: what a mode leaves out is not computed.
#include "tools/fovea/verify/run_reference.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "dsl/fovea.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

using Floats = std::map<std::string, std::vector<float>>;

std::string write(const std::string& path, const Floats& tensors) {
    std::vector<runtime::TensorView> views;
    for (const auto& [name, values] : tensors)
        views.push_back({name,
                         "F32",
                         {std::int64_t(values.size())},
                         std::as_bytes(std::span<const float>(values))});
    runtime::write_safetensors(path, views);
    return path;
}

/// Twice x while training, where the average follows x; else x divided by the average.
Floats outputs_in(bool training) {
    LoadedModel model;
    Scope s{&model.graph};
    const Tensor x = s.input("x", {3}), w = s.parameter("w", {3});
    const Tensor average = s.state("average", {3});
    s.update(average, when_training(average + x, average));
    s.output("loss", when_training(x * w, log(average) * w));
    model.entry.name = "modes";
    const test::TemporaryFolder folder;
    const auto inputs = runtime::read_safetensors(write(folder.file("inputs"), {{"x", {1, 2, 3}}}));
    // Not a number outside of training.
    const auto weights = runtime::read_safetensors(
        write(folder.file("weights"), {{"w", {1, 1, 1}}, {"average", {-1, -1, -1}}}));
    const std::string to = folder.file("outputs");
    runtime::RunRequest request;
    request.gradients = true;
    request.train = training;
    run_reference(model, request, {true}, inputs, &weights, to);
    const auto outputs = runtime::read_safetensors(to);
    Floats values;
    for (const runtime::TensorView& tensor : outputs.tensors()) {
        values[tensor.name].resize(tensor.bytes.size() / sizeof(float));
        std::memcpy(values[tensor.name].data(), tensor.bytes.data(), tensor.bytes.size());
    }
    return values;
}

}  // namespace

TEST_CASE("the reference takes one mode: the other's values reach no gradient, and no state") {
    const Floats training = outputs_in(true), evaluation = outputs_in(false);
    CHECK(training.at("w.grad") == std::vector<float>{1, 2, 3});
    CHECK(training.at("average") == std::vector<float>{0, 1, 2});
    CHECK(!evaluation.contains("average"));
    for (float value : evaluation.at("w.grad")) CHECK(std::isnan(value));
}
