// What programs prepare of parameters alone has one number in all of them.
#include "codegen/plan/share_prepared.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fovea.h>

#include "codegen/kernel/builder.h"
#include "codegen/pipeline.h"
#include "codegen/plan/look_up_rows.h"

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

plan::Model shared_model(std::vector<ProgramRequest> requests, const target::Target& target = {}) {
    plan::Model model = compile_model("m", "m.cpp", {}, std::move(requests), target).plan;
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

/// y [256, 256] = x, or x + more.
kernel::Kernel copied(const char* name, bool with_more) {
    kernel::Builder b(name);
    const kernel::AxisId i = b.axis("i", 256), j = b.axis("j", 256);
    const int x = b.input("x", {256, 256});
    const int more = with_more ? b.input("more", {256, 256}) : -1;
    const int y = b.output("y", {256, 256});
    b.each(i, [&] {
        const kernel::Id value = b.load(b.at(x, {i, j}));
        b.store(b.at(y, {i, j}), with_more ? b.add(value, b.load(b.at(more, {i, j}))) : value);
    });
    return b.finish();
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

TEST_CASE("a schedule says how large a tensor is that is shared") {
    const auto count = [](int bytes) {
        target::Target target;
        target.cpu.sharing.least_bytes = bytes;
        return numbers(shared_model({request("forward", "rows")}, target).programs[0]).size();
    };
    CHECK(count(0) == 3);
    CHECK(count(4 * 256 * 256) == 2);
    CHECK(count(4 * 256 * 256 + 1) == 0);
}

TEST_CASE("the rows of a table that is a weight besides are looked up as they lie") {
    const auto text = [](bool adds_all) {
        Graph graph;
        Scope s{&graph};
        const Tensor ids = s.input("ids", {"rows"}, i32);
        const Tensor table = embedding_table(s / "words", 512, 256);
        Tensor x = look_up(s / "words", table, ids) * 2.0;
        if (adds_all) x = x + sum(table, 0);
        s.output("y", linear(relu(linear(s / "first", x, 256)), table));
        return graph;
    };
    for (const bool adds_all : {false, true}) {
        CAPTURE(adds_all);
        const plan::Model model = shared_model({{.name = "forward", .graph = text(adds_all)}});
        REQUIRE(model.parameters[0].name == "words.weight");
        CHECK(model.parameters[0].looked_up == !adds_all);
        CHECK(model.parameters[0].copied == !adds_all);
        CHECK(plan::looks_up_rows(model) == !adds_all);
        CHECK(numbers(model.programs[0]).size() == 2);
        // The larger one is prepared first.
        const plan::Step& first = model.programs[0].prepare[0];
        CHECK(std::ranges::count(first.arguments, 0) == 1);
    }
}

TEST_CASE("a program that reads all of a table says so where others look rows of it up") {
    const auto text = [](bool adds_all) {
        Graph graph;
        Scope s{&graph};
        const Tensor ids = s.input("ids", {"rows"}, i32);
        const Tensor table = embedding_table(s / "words", 512, 256);
        const Tensor x = look_up(s / "words", table, ids);
        s.output("y", adds_all ? x + sum(table, 0) : x);
        return graph;
    };
    const plan::Model model = shared_model(
        {{.name = "rows", .graph = text(false)}, {.name = "all", .graph = text(true)}});
    CHECK((model.parameters[0].copied && model.parameters[0].looked_up));
    CHECK(model.programs[0].whole.empty());
    CHECK(model.programs[1].whole == std::vector<int>{0});
}

TEST_CASE("a table of which programs with gradients alone look rows up is not marked") {
    Graph graph;
    Scope s{&graph};
    const Tensor ids = s.input("ids", {"rows"}, i32);
    s.output("y", look_up(s / "words", embedding_table(s / "words", 512, 256), ids));
    const auto model_of = [&](Gradients gradients) {
        return shared_model({{.name = "forward", .graph = graph, .gradients = gradients}});
    };
    CHECK(plan::looks_up_rows(model_of(Gradients::none)));
    CHECK(plan::leaves_in_file(model_of(Gradients::none)));
    CHECK(!plan::looks_up_rows(model_of(Gradients::of_parameters)));
    CHECK(!plan::leaves_in_file(model_of(Gradients::of_parameters)));
}

TEST_CASE("a parameter that meets what is shared of another is read as it lies") {
    const auto tensor = [](const char* name, plan::Role role) {
        return plan::Tensor{.name = name, .role = role, .shape = {256, 256}};
    };
    plan::Model model{.name = "m"};
    model.parameters = {tensor("first", plan::Role::parameter),
                        tensor("second", plan::Role::parameter)};
    model.kernels = {copied("copy", false), copied("sum", true)};
    plan::Program program{.name = "forward"};
    program.tensors = model.parameters;
    program.tensors.push_back(tensor("copy", plan::Role::prepared));
    program.tensors.push_back(tensor("sum", plan::Role::prepared));
    program.prepare = {{.kernel = 0, .arguments = {0, 2}}, {.kernel = 1, .arguments = {2, 1, 3}}};
    model.programs = {program};
    plan::share_prepared(model);
    CHECK(model.programs[0].tensors[3].shared == -1);
    CHECK(model.programs[0].tensors[2].shared == 0);
    CHECK(model.parameters[0].copied);
    CHECK(!model.parameters[1].copied);
}
