// Small steps between large ones are each thread's own, where that spares a wait.
#include "codegen/plan/replicate.h"

#include <doctest/doctest.h>

#include "codegen/kernel/builder.h"
#include "codegen/plan/phases.h"

using namespace fovea;

namespace {

kernel::Kernel copy_of_rows(const char* rows, int columns) {
    kernel::Builder b("copy");
    kernel::AxisId i = b.axis("i", rows), j = b.axis("j", columns);
    int x = b.input("x", {rows, columns}), y = b.output("y", {rows, columns});
    b.store(b.at(y, {i, j}), b.load(b.at(x, {i, j})));
    return b.finish();
}

/// Copies from one numbered tensor to another; tensors have 8 numbers a sequence, those of
/// `large` 10,000.
plan::Program planned(const std::vector<std::vector<int>>& copies, std::vector<int> large,
                      int outputs_from = 100, std::int64_t most = 1000) {
    plan::Program program;
    for (int i = 0; i < 8; ++i) {
        plan::Tensor tensor;
        const bool is_large = std::ranges::count(large, i) > 0;
        tensor.shape = {"batch", is_large ? 10000 : 8};
        tensor.role = i == 0              ? plan::Role::input
                      : i >= outputs_from ? plan::Role::output
                                          : plan::Role::buffer;
        program.tensors.push_back(tensor);
    }
    for (const std::vector<int>& copy : copies)
        program.steps.push_back({.kernel = 0, .name = "copy", .arguments = copy});
    const std::vector<kernel::Kernel> kernels = {copy_of_rows("batch", 8)};
    plan::mark_replicated(program, kernels, most);
    plan::form_phases(program, kernels, 8);
    plan::place_replicas(program, kernels, most);
    return program;
}

/// `0 1r 1`: the phase of each step, and whether it is replicated.
std::string text_of(const plan::Program& program) {
    std::string text;
    for (const plan::Step& step : program.steps)
        text +=
            (text.empty() ? "" : " ") + std::to_string(step.phase) + (step.replicated ? "r" : "");
    return text;
}

}  // namespace

TEST_CASE("a small step is in the phase of those that read it, in a round before them") {
    // 1 and 3 are large: 1 -> 2 is large, too, since it reads 1.
    const plan::Program program = planned({{0, 1}, {0, 2}, {2, 4}, {4, 3}}, {1, 3});
    CHECK(text_of(program) == "0 0r 0r 0");
    CHECK(program.steps[1].round == 0);
    CHECK(program.steps[2].round == 1);
    CHECK(program.steps[3].round == 2);
    CHECK(program.replicas.slots == 2);
    CHECK(program.replicas.numbers == Dim("batch") * 16);
    CHECK(program.tensors[2].replicated);
    CHECK(!program.tensors[3].replicated);
}

TEST_CASE("slots of what no later step reads are used again") {
    const plan::Program program = planned({{0, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 1}}, {1});
    CHECK(text_of(program) == "0r 0r 0r 0r 0r 0");
    CHECK(program.replicas.slots == 2);
}

TEST_CASE("a step that nothing in its phase reads is shared") {
    // 2 -> 0 waits for the reader of 0 anyway.
    CHECK(text_of(planned({{0, 3}, {0, 2}, {2, 0}}, {3})) == "0 0 1");
    CHECK(planned({{0, 3}, {0, 2}, {2, 0}}, {3}).replicas.slots == 0);
    // What it wrote is an output: it is one for all.
    CHECK(text_of(planned({{0, 6}, {6, 1}}, {1}, 6)) == "0 1");
    CHECK(planned({{0, 6}, {6, 1}}, {1}, 6).replicas.slots == 0);
    CHECK(text_of(planned({{0, 2}, {2, 3}}, {3}, 100, 0)) == "0 1");
}

TEST_CASE("sizes of another symbol than most have are shared") {
    plan::Program program;
    for (const char* symbol : {"batch", "batch", "steps", "steps", "batch"}) {
        plan::Tensor tensor;
        tensor.shape = {symbol, 8};
        program.tensors.push_back(tensor);
    }
    for (const std::vector<int>& copy : {std::vector{0, 1}, {2, 3}, {1, 4}})
        program.steps.push_back({.kernel = 0, .name = "copy", .arguments = copy});
    plan::mark_replicated(program, {copy_of_rows("batch", 8)}, 1000);
    CHECK(program.steps[0].replicated);
    CHECK(!program.steps[1].replicated);
    CHECK(program.steps[2].replicated);
}
