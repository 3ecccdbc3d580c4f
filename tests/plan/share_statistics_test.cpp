// Programs with and without gradients run the same attention and the same normalization.
#include "codegen/plan/share_statistics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <fovea.h>

#include "codegen/kernel/builder.h"
#include "codegen/kernel/verify_kernel.h"
#include "codegen/pipeline.h"

using namespace fovea;

namespace {

Graph attention_graph() {
    Graph graph;
    Scope s{&graph};
    const Dim hidden = {"hidden", 64};
    const auto input = [&](const char* name) { return s.input(name, {"batch", "len", hidden}); };
    const Tensor seen = attention(input("q"), input("k"), input("v"), dot_product);
    s.output("y", layer_norm(s / "norm", seen));
    return graph;
}

/// Both programs, first or last the one with gradients.
plan::Model model(bool gradient_first) {
    ProgramRequest forward{.name = "forward", .graph = attention_graph()};
    ProgramRequest gradient{.name = "gradient",
                            .graph = attention_graph(),
                            .gradients = Gradients::of_parameters_and_inputs};
    if (gradient_first) std::swap(forward, gradient);
    return compile_model("m", "m.cpp", {}, {forward, gradient}).plan;
}

std::set<int> kernels_of(const plan::Program& program) {
    std::set<int> kernels;
    for (const plan::Step& step : program.steps) kernels.insert(step.kernel);
    return kernels;
}

enum class Stored { nothing, sums, maxima, products };

/// y[i, j] = x[i, j] * sum of row i, and what is stored besides: these sums, the maximum of each
/// row, or y once more.
kernel::Kernel scaled(Stored stored) {
    kernel::Builder b("scaled");
    const kernel::AxisId i = b.axis("i", "n"), j = b.axis("j", 32);
    const int x = b.input("x", {"n", 32}), y = b.output("y", {"n", 32});
    const Dim width = stored == Stored::products ? 32 : 1;
    const int more = stored == Stored::nothing ? -1 : b.output("more", {"n", width});
    b.each(i, [&] {
        const kernel::Id row = b.load(b.at(x, {i, j})), sum = b.sum(row, {j});
        const kernel::Id product = b.mul(row, sum);
        b.store(b.at(y, {i, j}), product);
        const kernel::Access of_row{.buffer = more, .strides = {{i, 1}}};
        if (stored == Stored::sums) b.store(of_row, sum);
        if (stored == Stored::maxima) b.store(of_row, b.max(row, {j}));
        if (stored == Stored::products) b.store(b.at(more, {i, j}), product);
    });
    return b.finish();
}

plan::Model model_of(const kernel::Kernel& plain, const kernel::Kernel& larger) {
    plan::Model model{.name = "m", .kernels = {plain, larger}};
    for (int number : {0, 1}) {
        plan::Program program{.name = number ? "second" : "first"};
        for (const kernel::Buffer& buffer : model.kernels[std::size_t(number)].buffers)
            program.tensors.push_back(
                {.name = buffer.name,
                 .role = buffer.written ? plan::Role::output : plan::Role::input,
                 .shape = buffer.shape});
        plan::Step step{.kernel = number, .name = "scaled"};
        for (int i = 0; i < int(program.tensors.size()); ++i) step.arguments.push_back(i);
        program.steps = {step};
        model.programs.push_back(program);
    }
    return model;
}

}  // namespace

TEST_CASE("a program without gradients runs the attention that stores statistics") {
    for (const bool gradient_first : {false, true}) {
        CAPTURE(gradient_first);
        plan::Model shared = model(gradient_first);
        const std::size_t before = shared.kernels.size();
        plan::share_statistics(shared);
        CHECK(shared.kernels.size() == before - 2);
        const std::set<int> forward = kernels_of(shared.programs[gradient_first ? 1 : 0]);
        const std::set<int> gradient = kernels_of(shared.programs[gradient_first ? 0 : 1]);
        CHECK(std::includes(gradient.begin(), gradient.end(), forward.begin(), forward.end()));
    }
}

TEST_CASE("statistics that nothing reads have no memory; those that gradients read do") {
    plan::Model shared = model(false);
    const std::size_t before = shared.programs[0].tensors.size();
    plan::share_statistics(shared);
    const plan::Program& forward = shared.programs[0];
    REQUIRE(forward.tensors.size() == before + 3);  // of attention one, of the normalization two
    for (const plan::Program& program : shared.programs)
        for (const plan::Step& step : program.steps) {
            const kernel::Kernel& kernel = shared.kernels[std::size_t(step.kernel)];
            CHECK_NOTHROW(kernel::verify_kernel(kernel));
            REQUIRE(step.arguments.size() == kernel.buffers.size());
            for (std::size_t i = 0; i < step.arguments.size(); ++i) {
                const plan::Tensor& tensor = program.tensors[std::size_t(step.arguments[i])];
                const bool is_none =
                    &program == &forward && std::size_t(step.arguments[i]) >= before;
                CHECK((tensor.role == plan::Role::none) == is_none);
                if (!is_none) continue;
                CHECK(kernel.buffers[i].optional);
                CHECK(tensor.shape == kernel.buffers[i].shape);
            }
        }
}

TEST_CASE("a kernel that stores its sums of rows besides is shared") {
    plan::Model shared = model_of(scaled(Stored::nothing), scaled(Stored::sums));
    plan::share_statistics(shared);
    REQUIRE(shared.kernels.size() == 1);
    CHECK(shared.programs[0].steps[0].kernel == 0);
    CHECK(shared.programs[0].steps[0].arguments == std::vector<int>{0, 1, 2});
    CHECK(shared.programs[0].tensors[2].name == "more");
    CHECK(shared.programs[0].tensors[2].role == plan::Role::none);
    CHECK(shared.programs[1].tensors[2].role == plan::Role::output);
}

TEST_CASE("a kernel that computes more, or stores as much again, is not") {
    for (const Stored stored : {Stored::maxima, Stored::products}) {
        plan::Model apart = model_of(scaled(Stored::nothing), scaled(stored));
        plan::share_statistics(apart);
        CHECK(apart.kernels.size() == 2);
        CHECK(apart.programs[0].steps[0].arguments == std::vector<int>{0, 1});
    }
}
