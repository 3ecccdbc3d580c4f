// What programs prepare of parameters alone has one number in all of them.
#include "codegen/plan/share_prepared.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include <fovea.h>

#include "codegen/pipeline.h"

using namespace fovea;

namespace {

/// Two layers of a width that is worth sharing, and a small one; of many rows, or of one.
Graph layers(Dim rows) {
    Graph graph;
    Scope s{&graph};
    const Tensor x = s.input("x", {rows, 256});
    const Tensor hidden = relu(linear(s / "first", x, 256));
    const Tensor more = relu(linear(s / "second", hidden, 256));
    s.output("y", linear(s / "small", more, 8));
    return graph;
}

ProgramRequest request(const char* name, Dim rows, Gradients gradients = Gradients::none) {
    return {.name = name, .graph = layers(rows), .gradients = gradients};
}

plan::Model shared_model(std::vector<ProgramRequest> requests) {
    plan::Model model = compile_model("m", "m.cpp", {}, std::move(requests)).plan;
    plan::share_prepared(model);
    return model;
}

/// The numbers of a program's tensors, by their names.
std::map<std::string, int> numbers(const plan::Program& program) {
    std::map<std::string, int> numbers;
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.shared >= 0) numbers[tensor.name] = tensor.shared;
    return numbers;
}

}  // namespace

TEST_CASE("programs over the same parameters share what they prepare of them") {
    const plan::Model model = shared_model({request("many", "rows"), request("one", 1)});
    const auto many = numbers(model.programs[0]), one = numbers(model.programs[1]);
    REQUIRE(many.size() == 2);
    CHECK(many == one);
    std::set<int> different;
    for (const auto& [name, number] : many) different.insert(number);
    CHECK(different == std::set<int>{0, 1});
    CHECK(plan::has_shared(model));
}

TEST_CASE("small tensors, and those of programs with gradients, are their own") {
    const plan::Model model =
        shared_model({request("gradient", "rows", Gradients::of_parameters_and_inputs)});
    CHECK(!plan::has_shared(model));
    const plan::Model beside =
        shared_model({request("gradient", "rows", Gradients::of_parameters_and_inputs),
                      request("forward", "rows")});
    CHECK(numbers(beside.programs[0]).empty());
    CHECK(numbers(beside.programs[1]).size() == 2);
    for (const auto& [name, number] : numbers(beside.programs[1]))
        CHECK(name.find("small") == std::string::npos);
}
