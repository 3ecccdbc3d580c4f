// Steps that depend on each other are in different phases.
#include "codegen/plan/phases.h"

#include <doctest/doctest.h>

#include "codegen/kernel/builder.h"

using namespace fovea;

namespace {

kernel::Kernel copy_of_x() {
    kernel::Builder b("copy");
    kernel::AxisId i = b.axis("i", "n");
    int x = b.input("x", {"n"}), y = b.output("y", {"n"});
    b.store(b.at(y, {i}), b.load(b.at(x, {i})));
    return b.finish();
}

using Copies = std::vector<std::vector<int>>;  // from one numbered tensor to another

/// The copies of each phase, in order.
std::vector<Copies> phases_of(const Copies& copies) {
    plan::Program program;
    program.tensors.resize(8);
    for (const std::vector<int>& copy : copies)
        program.steps.push_back({.kernel = 0, .name = "copy", .arguments = copy});
    plan::form_phases(program, {copy_of_x()}, 8);
    std::vector<Copies> phases;
    for (const plan::Step& step : program.steps) {
        phases.resize(std::size_t(step.phase) + 1);
        phases.back().push_back(step.arguments);
    }
    return phases;
}

}  // namespace

TEST_CASE("steps that only read the same run side by side") {
    CHECK(phases_of({{0, 1}, {0, 2}, {0, 3}}) == std::vector<Copies>{{{0, 1}, {0, 2}, {0, 3}}});
}

TEST_CASE("a reader waits for the writer, those behind it that need not go ahead") {
    CHECK(phases_of({{0, 1}, {1, 2}, {0, 3}, {3, 4}}) ==
          std::vector<Copies>{{{0, 1}, {0, 3}}, {{1, 2}, {3, 4}}});
}

TEST_CASE("a writer waits for those that read or wrote before it") {
    CHECK(phases_of({{0, 1}, {2, 0}}) == std::vector<Copies>{{{0, 1}}, {{2, 0}}});
    CHECK(phases_of({{0, 1}, {2, 1}}) == std::vector<Copies>{{{0, 1}}, {{2, 1}}});
}

TEST_CASE("nothing goes ahead of a step that it depends on and that waits") {
    // 1 -> 2 waits for 0 -> 1: what reads 2, writes 2 or writes 1 stays behind it.
    for (const std::vector<int>& third : Copies{{2, 3}, {0, 2}, {0, 1}}) {
        const std::vector<Copies> phases = phases_of({{0, 1}, {1, 2}, third});
        CHECK(phases == std::vector<Copies>{{{0, 1}}, {{1, 2}}, {third}});
    }
}
