// A built classifier of images prints the classes of the reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.h"
#include "models/registry.h"
#include "runtime/images/image_settings.h"
#include "runtime/safetensors.h"
#include "tests/decode/random_weights.h"
#include "tests/decode/small_program.h"
#include "tools/fovea/process.h"

using namespace fovea;
using tool::ProcessResult;

namespace {

constexpr std::int64_t kSide = 21, kClasses = 5;
const char* const kClassNames[] = {"tench", "gold\\u001bfish", "2", "hen, or cock", "ostrich"};

runtime::Pixmap image_of(std::int64_t width, std::int64_t height, int seed) {
    runtime::Pixmap image{width, height, 3, {}};
    for (std::int64_t i = 0; i < width * height * 3; ++i)
        image.values.push_back(std::uint8_t(i * i * (seed + 3) / 7 + seed * 90));
    return image;
}

void write_image(const std::string& path, const runtime::Pixmap& image) {
    std::ofstream file(path, std::ios::binary);
    file << "P6\n" << image.width << " " << image.height << "\n255\n";
    file.write(reinterpret_cast<const char*>(image.values.data()), std::ssize(image.values));
}

std::vector<float> pixels_of(const runtime::Pixmap& image) {
    std::vector<float> pixels;
    runtime::append_pixels(pixels, image, {}, {3, kSide, kSide}, "image");
    return pixels;
}

/// The `count` likeliest classes as lines, by the reference.
std::string likeliest(const Graph& graph, const test::RandomWeights& weights,
                      const std::vector<float>& pixels, std::size_t count) {
    Interpreter whole(graph);
    weights.set(whole);
    whole.set("pixels", {{1, 3, kSide, kSide}, {pixels.begin(), pixels.end()}});
    whole.set("labels", {{1}, {0}});
    const std::vector<double> logits = whole.output("logits").values;
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    std::vector<std::pair<double, std::size_t>> classes;
    for (std::size_t i = 0; i < logits.size(); ++i)
        classes.emplace_back(-std::exp(logits[i]) / sum, i);
    std::ranges::sort(classes);
    std::string lines;
    for (const auto& [probability, i] : std::span(classes).first(count)) {
        char line[32];
        std::snprintf(line, sizeof line, "  %.4f", -probability);
        lines += std::string(line) + "  " + (i == 1 ? "gold\\x1bfish" : kClassNames[i]) + "\n";
    }
    return lines;
}

/// Probabilities with four digits in the place of six.
std::string rounded_probabilities(const std::string& text) {
    std::string result;
    std::size_t from = 0;
    while (from < text.size()) {
        const std::size_t end = text.find('\n', from) + 1;
        std::string line = text.substr(from, end - from);
        if (line.starts_with("  ")) {
            char probability[32];
            std::snprintf(probability, sizeof probability, "  %.4f", std::stod(line));
            line = probability + line.substr(10);
        }
        result += line;
        from = end;
    }
    return result;
}

}  // namespace

TEST_CASE(
    "a program of an image classifier prints classes, each image's whatever others there are") {
    const ModelEntry& entry = *models::find_model("vit");
    const Graph graph = entry.build(entry.small_settings);
    const test::RandomWeights weights(graph);
    const tool::TemporaryFolder folder;
    const auto path = [&](const char* name) { return (folder.path() / name).string(); };
    weights.write(path("model.safetensors"));
    std::string names;
    for (int i = 0; i < kClasses; ++i)
        if (i != 2)
            names += (i ? ", \"" : "\"") + std::to_string(i) + "\": \"" + kClassNames[i] + "\"";
    std::ofstream(path("config.json")) << "{\"id2label\": {" << names << "}}";
    test::build_small_program(entry, path("vit"));
    const auto classified = [&](std::vector<std::string> options) {
        options.insert(options.begin(),
                       {path("vit"), "classify", "--weights", folder.path().string()});
        return tool::run_process(options);
    };
    const std::vector<runtime::Pixmap> images = {image_of(kSide, kSide, 0), image_of(40, 17, 1),
                                                 image_of(kSide, kSide, 2)};
    const std::vector<std::string> files = {path("a.ppm"), path("b.ppm"), path("c.ppm")};
    std::string expected, first_two;
    std::vector<float> all;
    for (std::size_t i = 0; i < images.size(); ++i) {
        write_image(files[i], images[i]);
        const std::vector<float> pixels = pixels_of(images[i]);
        all.insert(all.end(), pixels.begin(), pixels.end());
        expected += files[i] + "\n" + likeliest(graph, weights, pixels, kClasses);
        first_two += path("all.safetensors") + "[" + std::to_string(i) + "]\n" +
                     likeliest(graph, weights, pixels, 2);
    }
    const ProcessResult made = classified(files);
    REQUIRE_MESSAGE(made.status == 0, made.output);
    CHECK(rounded_probabilities(made.output) == expected);
    for (const char* batch : {"1", "2"})
        CHECK(classified({"--batch", batch, files[0], files[1], files[2]}).output == made.output);
    CHECK(made.output.ends_with(classified({"--threads", "1", files[2]}).output));
    runtime::write_safetensors(path("all.safetensors"),
                               {runtime::f32_tensor("pixels", {3, 3, kSide, kSide}, all)});
    CHECK(rounded_probabilities(
              classified({"--top-k", "2", "--batch", "2", path("all.safetensors")}).output) ==
          first_two);

    const auto mistake = [&](std::vector<std::string> options, const std::string& said) {
        const ProcessResult result = classified(std::move(options));
        CHECK(result.status == 2);
        CHECK_MESSAGE(result.output.find(said) != std::string::npos, result.output);
    };
    mistake({}, "there is no image to classify: give PPM files, or one of pixels");
    std::ofstream(path("broken.ppm")) << "P6 21 21 255 abc";
    mistake({path("broken.ppm")}, "broken.ppm' should have 1323 bytes of pixels, 21 x 21 x 3, but");
    mistake({path("none.ppm")}, "none.ppm': No such file or directory");
    mistake({path("model.safetensors")}, "has no tensor pixels");
    runtime::write_safetensors(path("few.safetensors"),
                               {runtime::f32_tensor("pixels", {1, 3, 1, kSide, kSide},
                                                    std::span(all).first(3 * kSide * kSide))});
    mistake({path("few.safetensors")}, "should be [images, 3, 21, 21], but are [1, 3, 1, 21, 21]");
    std::ofstream(path("preprocessor_config.json")) << R"({"do_resize": false})";
    mistake({files[1]}, "b.ppm' has 40 x 17 pixels, but the model reads 21 x 21");
    std::ofstream(path("preprocessor_config.json")) << R"({"size": 30})";
    mistake({files[0]}, "has size 30 x 30, but the model reads 21 x 21");
}
