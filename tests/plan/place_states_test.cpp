// States are stored over their old values, after whatever reads these.
#include "codegen/plan/place_states.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/kernel/builder.h"
#include "codegen/plan/phases.h"

using namespace fovea;

namespace {

/// y = x
kernel::Kernel copy() {
    kernel::Builder b("copy");
    const kernel::AxisId i = b.axis("i", 4);
    const int x = b.input("x", {4}), y = b.output("y", {4});
    b.store(b.at(y, {i}), b.load(b.at(x, {i})));
    return b.finish();
}
/// z = x + y
kernel::Kernel sum() {
    kernel::Builder b("sum");
    const kernel::AxisId i = b.axis("i", 4);
    const int x = b.input("x", {4}), y = b.input("y", {4}), z = b.output("z", {4});
    b.store(b.at(z, {i}), b.add(b.load(b.at(x, {i})), b.load(b.at(y, {i}))));
    return b.finish();
}
/// y[i] = x[i + 1], and y[3] stays: it reads elements that it has stored another for.
kernel::Kernel shift() {
    kernel::Builder b("shift");
    const kernel::AxisId i = b.axis("i", 3);
    const int x = b.input("x", {4}), y = b.output("y", {4});
    kernel::Access from = b.at(x, {i});
    from.offset = Dim(1);
    b.store(b.at(y, {i}), b.load(from));
    return b.finish();
}

enum Tensors { a, b, a_next, b_next, y, scratch };
enum Kernels { copies, sums, shifts };

struct Placed {
    plan::Program program;
    plan::KernelPool pool;

    explicit Placed(std::vector<plan::Step> steps) {
        for (const kernel::Kernel& kernel : {copy(), sum(), shift()}) pool.number_of(kernel);
        for (const char* name : {"a", "b"})
            program.tensors.push_back(
                {.name = name, .role = plan::Role::input, .shape = {4}, .state = true});
        for (const char* name : {"a", "b"})
            program.tensors.push_back(
                {.name = name, .role = plan::Role::output, .shape = {4}, .state = true});
        program.tensors.push_back({.name = "y", .role = plan::Role::output, .shape = {4}});
        program.tensors.push_back({.name = "scratch", .role = plan::Role::buffer, .shape = {4}});
        program.steps = std::move(steps);
        plan::place_states(program, pool);
        plan::form_phases(program, pool.kernels(), 8);
    }
    /// The phase of the step that stores `tensor`.
    int phase_of(int tensor) const {
        for (const plan::Step& step : program.steps)
            if (step.arguments.back() == tensor) return step.phase;
        FAIL("nothing stores tensor ", tensor);
        return -1;
    }
    std::vector<float> run(bool in_place) const {
        std::vector<std::vector<float>> memory(program.tensors.size(), std::vector<float>(4, 0));
        memory[a] = {1, 2, 3, 4}, memory[b] = {10, 20, 30, 40};
        const auto of = [&](int tensor) -> std::vector<float>& {
            const int over = program.tensors[std::size_t(tensor)].over;
            return memory[std::size_t(in_place && over >= 0 ? over : tensor)];
        };
        for (const plan::Step& step : program.steps) {
            const std::string& name = pool.kernels()[std::size_t(step.kernel)].name;
            std::vector<float>& to = of(step.arguments.back());
            const std::vector<float>& from = of(step.arguments[0]);
            for (std::size_t i = 0; i < (name == "shift" ? 3U : 4U); ++i)
                to[i] = name == "sum" ? from[i] + of(step.arguments[1])[i]
                                      : from[i + (name == "shift")];
        }
        std::vector<float> all;
        for (int tensor : {a_next, b_next, y})
            all.insert(all.end(), of(tensor).begin(), of(tensor).end());
        return all;
    }
    void check() const {
        for (int state : {a_next, b_next})
            CHECK(program.tensors[std::size_t(state)].over == state - a_next);
        CHECK(run(true) == run(false));
    }
};

plan::Step step(int kernel, std::vector<int> arguments) {
    return {.kernel = kernel, .name = "step", .arguments = std::move(arguments)};
}

}  // namespace

TEST_CASE("what reads the old value runs before the new one is stored") {
    const Placed placed(
        {step(copies, {b, a_next}), step(copies, {b, b_next}), step(copies, {a, y})});
    placed.check();
    CHECK(placed.program.steps.size() == 3);
    CHECK(placed.phase_of(y) < placed.phase_of(a_next));
}

TEST_CASE("an element that is read where it is stored needs no copy") {
    const Placed placed(
        {step(sums, {a, b, a_next}), step(copies, {a_next, y}), step(copies, {b, b_next})});
    placed.check();
    CHECK(placed.program.steps.size() == 3);
}

TEST_CASE("a reader of old and new value has the new one from a buffer") {
    const Placed placed(
        {step(copies, {b, a_next}), step(sums, {a, a_next, y}), step(copies, {b, b_next})});
    placed.check();
    CHECK(placed.program.steps.size() == 4);
    CHECK(placed.program.tensors.back().role == plan::Role::buffer);
    CHECK(placed.phase_of(y) < placed.phase_of(a_next));
}

TEST_CASE("elements that move are stored elsewhere first") {
    const Placed placed({step(shifts, {a, a_next}), step(copies, {b, b_next})});
    placed.check();
    CHECK(placed.program.steps.size() == 3);
}

TEST_CASE("two states change places") {
    const Placed placed({step(copies, {b, a_next}), step(copies, {a, b_next})});
    placed.check();
    CHECK(placed.run(true) == std::vector<float>{10, 20, 30, 40, 1, 2, 3, 4, 0, 0, 0, 0});
}
