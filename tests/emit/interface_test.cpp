// Names that a generated header gives to programs.
#include "codegen/emit/cpp/interface/interface.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

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
