// Convolutions and pools as models have them: every kernel on the CPU and as PTX, and the same bits
// with any number of threads.
#include <doctest/doctest.h>

#include <utility>

#include "runtime/safetensors.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"

using fovea::test::read_text;
using fovea::test::run_fovea;

namespace {

const std::string kImages = FOVEA_SOURCE_DIR "/models/lessons/images.cpp:images";

/// Sizes that are multiples of nothing, strides, dilations, groups, symbolic lengths.
constexpr const char* kModels = R"(#include <fovea.h>
using namespace fovea;
constexpr void lines(Scope s) {
    Tensor x = s.input("x", {"batch", 4, "len"});
    x = gelu(conv1d(s / "c1", x, 6, 3, {.padding = 1}));
    x = conv1d(s / "c2", x, 6, 5, {.padding = 4, .dilation = 2, .groups = 2});
    s.output("y", max_pool1d(conv1d(s / "c3", x, 12, 1, {.groups = 6, .bias = false}), 3,
                             {.stride = 1, .padding = 1}));
}
constexpr void planes(Scope s) {
    Tensor x = s.input("x", {"batch", 4, 17, 35});
    x = conv2d(s / "c1", x, 9, {3, 5}, {.stride = 2, .padding = {1, 2}});
    x = conv2d(s / "c2", x, 6, 3, {.padding = 1, .groups = 3});
    x = conv2d(s / "c3", x, 6, {1, 3}, {.dilation = {1, 4}, .groups = 6});
    s.output("y", avg_pool2d(x, {2, 3}, {.stride = 1, .padding = 1}));
    s.output("z", slice(x, 3, 1, 3, 2));
}
constexpr void halves(Scope s) {  // one position is left at the end, whatever the sizes
    Tensor x = s.input("x", {"batch", 4, Dim("h") * 2, Dim("w") * 2});
    x = conv2d(s / "c1", x, 6, 3, {.stride = 2, .padding = 1});
    x = conv2d(s / "c2", x, 6, 3, {.padding = 1, .groups = x.dim(1)});
    s.output("y", max_pool2d(x, 1));
}
constexpr void corners(Scope s) {  // fewer positions than lanes: more than taps, and fewer
    Tensor x = s.input("x", {"batch", 6, 7, 7});
    x = conv2d(s / "c1", x, 10, 3, {.padding = 1});
    s.output("y", conv2d(s / "c2", x, 5, 5));
}
constexpr void pixels(Scope s) {  // its weight's gradient is a long sum over two axes
    s.output("y", conv2d(s / "c", s.input("x", {"batch", 16, 17, 19}), 6, 1));
}
constexpr void two(Scope s) {
    Tensor x = s.input("x", {"batch", 5, 13, 21}), w = s.input("w", {7, 5, 3, 3});
    x = conv2d(x, w, {.padding = 1});
    s.output("y", conv2d(relu(x), s.input("v", {3, 7, 3, 3}), {.padding = 1}));
}
)";

std::vector<float> numbers(std::int64_t count) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(float(i * 37 % 101) / 64 - 0.7F);
    return values;
}

void check_verified(const std::string& model, const char* target) {
    const auto result = run_fovea({"verify", model, "--target", target});
    INFO(result.output);
    CHECK(result.status == 0);
    CHECK(result.output.find(" 0 missed") != std::string::npos);
}

}  // namespace

TEST_CASE("every kernel of convolutions is right on every target") {
    if (!fovea::test::has_turn(1, 2)) return;
    const fovea::tool::TemporaryFolder folder;
    const std::string file = (folder.path() / "convolutions.cpp").string();
    std::ofstream(file) << kModels;
    const std::vector<std::pair<std::string, const char*>> cases = {
        {kImages, "cpu"},           {file + ":lines", "cpu"},
        {file + ":planes", "cpu"},  {file + ":planes", "ptx-interpreter"},
        {file + ":halves", "cpu"},  {file + ":halves", "ptx-interpreter"},
        {file + ":corners", "cpu"}, {file + ":corners", "ptx-interpreter"},
        {file + ":pixels", "cpu"},  {file + ":pixels", "ptx-interpreter"}};
    for (const auto& [model, target] : fovea::test::turns_of(cases, 3))
        check_verified(model, target);
}

TEST_CASE("the bits of convolutions do not depend on the number of threads") {
    if (!fovea::test::has_turn(0, 2)) return;
    using fovea::runtime::f32_tensor;
    const fovea::tool::TemporaryFolder folder;
    const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
    std::ofstream(path("two.cpp")) << kModels;
    const std::vector<float> x = numbers(3 * 5 * 13 * 21), w = numbers(7 * 5 * 9),
                             v = numbers(3 * 7 * 9), dy = numbers(3 * 3 * 13 * 21);
    fovea::runtime::write_safetensors(
        path("inputs"),
        {f32_tensor("x", {3, 5, 13, 21}, x), f32_tensor("w", {7, 5, 3, 3}, w),
         f32_tensor("v", {3, 7, 3, 3}, v), f32_tensor("y.grad", {3, 3, 13, 21}, dy)});
    for (const char* threads : {"1", "2", "3", "7"}) {
        const auto result =
            run_fovea({"run", path("two.cpp") + ":two", "--inputs", path("inputs"), "--outputs",
                       path(threads), "--gradients", "--threads", threads});
        INFO(result.output);
        REQUIRE(result.status == 0);
        CHECK(read_text(path(threads)).size() > sizeof(float) * (x.size() + w.size() + v.size()));
        CHECK(read_text(path(threads)) == read_text(path("1")));
    }
}

TEST_CASE("a convolution stores no windows, says the plan") {
    const auto fused = run_fovea({"show", kImages, "--stage", "fused"});
    INFO(fused.output);
    CHECK(fused.status == 0);
    CHECK(fused.output.find("* %") != std::string::npos);
    CHECK(fused.output.find("copy over [batch, 6, 12, 3") == std::string::npos);
    const auto schedule = run_fovea({"show", kImages, "--stage", "schedule"});
    CHECK(schedule.output.find("windows in place") != std::string::npos);
    CHECK(schedule.output.find("vectors along the sum") != std::string::npos);
}
