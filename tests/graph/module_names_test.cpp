// Paths without modules that hold nothing but numbered modules.
#include "codegen/graph/module_names.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include "codegen/graph/rewrite.h"

using namespace fovea;

namespace {

/// The name of the module that the last node is of.
template <class F>
std::string name_of_last(F&& model) {
    Graph graph;
    model(Scope{&graph});
    return ModuleNames(graph).name(graph.scope_of(int(graph.nodes.size()) - 1));
}

Tensor dense(Scope s) { return linear(s, s.input(intern(s.graph->path(s.id)), {"batch", 3}), 4); }

}  // namespace

TEST_CASE("module names: a module of numbered modules is left out") {
    CHECK(name_of_last([](Scope s) {
              dense(s / "encoder" / "layers" / "block" + 0);
              dense(s / "encoder" / "layers" / "block" + 1);
          }) == "encoder.block1");
    CHECK(name_of_last([](Scope s) { dense(s / "layers" / "block" + 0); }) == "block0");
}

TEST_CASE("module names: others stay") {
    CHECK(name_of_last([](Scope s) { dense(s / "encoder" / "ffn"); }) == "encoder.ffn");
    CHECK(name_of_last([](Scope s) { dense(s / "layers" / 0 / "ffn"); }) == "layers.0.ffn");
    CHECK(name_of_last([](Scope s) {  // it holds another one
              dense(s / "layers" / "norm");
              dense(s / "layers" / "block" + 0);
          }) == "layers.block0");
    CHECK(name_of_last([](Scope s) {  // they would have one name
              dense(s / "encoder" / "here" / "block" + 0);
              dense(s / "encoder" / "there" / "block" + 0);
          }) == "encoder.there.block0");
    CHECK(name_of_last([](Scope s) {
              dense(s / "encoder" / "block" + 0);
              dense(s / "encoder" / "layers" / "block" + 0);
          }) == "encoder.layers.block0");
}
