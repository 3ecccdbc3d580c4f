// Steps that depend on each other are in different phases.
#include "codegen/plan/phases.h"

#include <doctest/doctest.h>

#include "codegen/kernel/builder.h"

using namespace fovea;

namespace {

kernel::Kernel copy_kernel() {
    kernel::Builder b("copy");
    kernel::AxisId i = b.axis("i", "n");
    int x = b.input("x", {"n"}), y = b.output("y", {"n"});
    b.store(b.at(y, {i}), b.load(b.at(x, {i})));
    return b.finish();
}

/// The phases of copies between numbered tensors.
std::vector<int> phases_of(const std::vector<std::vector<int>>& copies) {
    plan::Program program;
    for (const std::vector<int>& copy : copies)
        program.steps.push_back({.kernel = 0, .name = "copy", .arguments = copy});
    plan::set_phases(program, {copy_kernel()});
    std::vector<int> phases;
    for (const plan::Step& step : program.steps) phases.push_back(step.phase);
    return phases;
}

}  // namespace

TEST_CASE("steps that only read the same run side by side") {
    CHECK(phases_of({{0, 1}, {0, 2}, {0, 3}}) == std::vector{0, 0, 0});
}

TEST_CASE("a reader waits for the writer, and those behind it start with it") {
    CHECK(phases_of({{0, 1}, {1, 2}, {0, 3}, {3, 4}}) == std::vector{0, 1, 1, 2});
}

TEST_CASE("a writer waits for those that read or wrote before it") {
    CHECK(phases_of({{0, 1}, {2, 0}}) == std::vector{0, 1});
    CHECK(phases_of({{0, 1}, {2, 1}}) == std::vector{0, 1});
}
