// Names that a generated header gives to programs, tensors and sizes.
#include "codegen/emit/cpp/interface/interface.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

using namespace fovea;

TEST_CASE("a program's functions have no name that the interface has for itself") {
    plan::Model model;
    model.name = "tagger";
    for (const char* name : {"forward", "forward_bytes", "new_session", "use_workspace", "load"})
        model.programs.push_back({.name = name});
    std::set<std::string> names = {"new_session", "use_workspace", "load"};
    for (const emit::InterfaceProgram& program : emit::interface_of(model).programs)
        for (const std::string& name : {program.method, program.bytes}) {
            CAPTURE(name);
            CHECK(names.insert(name).second);
        }
}

TEST_CASE("a name that can be a field stays with who has it") {
    plan::Model model;
    model.name = "tagger";
    model.dims = {"class", "class_2", "len"};
    plan::Program program{.name = "forward"};
    for (const char* name : {"x-y", "x_y", "class", "class_2"}) {
        plan::Tensor tensor;
        tensor.name = name;
        tensor.role = plan::Role::input;
        program.tensors.push_back(tensor);
    }
    model.programs.push_back(program);
    const emit::Interface interface = emit::interface_of(model);
    std::vector<std::string> inputs, dims;
    for (const auto& input : interface.programs[0].inputs) inputs.push_back(input.name);
    for (const auto& dim : interface.dims) dims.push_back(dim.name);
    CHECK(inputs == std::vector<std::string>{"x_y_2", "x_y", "class_3", "class_2"});
    CHECK(dims == std::vector<std::string>{"class_3", "class_2", "len"});
}
