// Convolutions and pools as models have them: every kernel on the CPU and as PTX, and the same bits
// with any number of threads.
#include <doctest/doctest.h>

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
)";

void check_verified(const std::string& model) {
    for (const char* target : {"cpu", "ptx-interpreter"}) {
        const auto result = run_fovea({"verify", model, "--target", target});
        INFO(result.output);
        CHECK(result.status == 0);
        CHECK(result.output.find(" 0 missed") != std::string::npos);
    }
}

}  // namespace

TEST_CASE("every kernel of convolutions is right on every target") {
    const fovea::tool::TemporaryFolder folder;
    const std::string file = (folder.path() / "convolutions.cpp").string();
    std::ofstream(file) << kModels;
    check_verified(kImages);
    check_verified(file + ":lines");
    check_verified(file + ":planes");
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
