// A built encoder makes vectors of texts: those of the reference.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.h"
#include "models/registry.h"
#include "runtime/safetensors.h"
#include "tests/decode/random_weights.h"
#include "tests/decode/small_program.h"
#include "tools/fovea/process.h"

using namespace fovea;
using tool::ProcessResult;

namespace {

using Vector = std::vector<double>;

/// The vectors of a text's tokens, [len, width], by the reference.
Array token_vectors(const Graph& graph, const test::RandomWeights& weights,
                    const std::vector<double>& text) {
    Interpreter whole(graph);
    weights.set(whole);
    const auto length = std::int64_t(text.size());
    whole.set("ids", {{1, length}, text});
    whole.set("segments", {{1, length}, Vector(text.size(), 0)});
    whole.set("lens", {{1}, {double(length)}});
    return whole.output("output");
}

Vector mean_of(const Array& tokens) {
    const auto width = std::size_t(tokens.shape[2]);
    Vector mean(width, 0);
    for (std::size_t i = 0; i < tokens.values.size(); ++i)
        mean[i % width] += tokens.values[i] / double(tokens.shape[1]);
    return mean;
}

std::vector<Vector> lines_of_numbers(const std::string& text) {
    std::vector<Vector> lines;
    std::istringstream input(text);
    for (std::string line; std::getline(input, line);) {
        std::istringstream numbers(line);
        Vector& vector = lines.emplace_back();
        for (double value; numbers >> value;) vector.push_back(value);
    }
    return lines;
}

void check_near(const Vector& actual, const Vector& expected) {
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        CHECK(std::abs(actual[i] - expected[i]) < 2e-5 * (1 + std::abs(expected[i])));
}

}  // namespace

TEST_CASE("a program of an encoder makes vectors of texts, each whatever stands beside it") {
    const ModelEntry& entry = *models::find_model("bert");
    const Graph graph = entry.build(entry.small_settings);
    const test::RandomWeights weights(graph);
    const tool::TemporaryFolder folder;
    const auto path = [&](const char* name) { return (folder.path() / name).string(); };
    weights.write(path("weights"));
    test::write_word_tokenizer(path("tokenizer.json"));
    test::build_small_program(entry, path("bert"));
    const auto embedded = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {path("bert"), "embed", "--weights", path("weights")});
        return tool::run_process(options);
    };
    const Array first = token_vectors(graph, weights, {3, 17, 5}),
                second = token_vectors(graph, weights, {8});
    const auto width = std::ptrdiff_t(first.shape[2]);

    const auto means = lines_of_numbers(embedded({"--ids", "3,17,5", "--ids", "8"}).output);
    REQUIRE(means.size() == 2);
    check_near(means[0], mean_of(first));
    check_near(means[1], mean_of(second));
    CHECK(lines_of_numbers(embedded({"--ids", "8", "--threads", "1"}).output)[0] == means[1]);
    CHECK(lines_of_numbers(
              embedded({"--tokenizer", path("tokenizer.json"), "w3 w17 w5", "w8"}).output) ==
          means);
    CHECK(lines_of_numbers(embedded({"--ids", "3,17,5", "--ids", "8", "--batch", "1"}).output) ==
          means);
    check_near(lines_of_numbers(embedded({"--pool", "first", "--ids", "3,17,5"}).output)[0],
               {first.values.begin(), first.values.begin() + width});
    const Vector unit = lines_of_numbers(embedded({"--normalize", "--ids", "3,17,5"}).output)[0];
    CHECK(std::inner_product(unit.begin(), unit.end(), unit.begin(), 0.0) ==
          doctest::Approx(1).epsilon(1e-6));

    // Lines of standard input, into a file.
    std::ofstream(path("lines")) << "w8\nw3 w17 w5\nw8";
    const ProcessResult written =
        tool::run_process({"sh", "-c",
                           path("bert") + " embed --weights " + path("weights") + " --tokenizer " +
                               path("tokenizer.json") + " --batch 2 --output " + path("vectors") +
                               " < " + path("lines")});
    REQUIRE_MESSAGE(written.status == 0, written.output);
    const auto file = runtime::read_safetensors(path("vectors"));
    const runtime::TensorView* vectors = file.find("vectors");
    REQUIRE(vectors);
    CHECK(vectors->shape == std::vector<std::int64_t>{3, width});
    std::vector<float> values(std::size_t(3 * width));
    REQUIRE(vectors->bytes.size() == values.size() * sizeof(float));
    std::memcpy(values.data(), vectors->bytes.data(), vectors->bytes.size());
    check_near({values.begin() + width, values.begin() + 2 * width}, means[0]);
    check_near({values.begin() + 2 * width, values.end()}, means[1]);

    // Those before a text that is too long, or has a token that the model has not, have their
    // vectors.
    const ProcessResult unknown = embedded({"--ids", "3,17,5", "--ids", "8", "--ids", "4,29"});
    CHECK(unknown.status == 2);
    const auto end =
        unknown.output.find("bert: text 3: input ids[0, 1] is the id 29; ids are from 0 to 28\n");
    REQUIRE(end != std::string::npos);
    CHECK(lines_of_numbers(unknown.output.substr(0, end)).size() >= 2);
    std::string longest = "3";
    for (int i = 0; i < 150; ++i) longest += ",3";
    const ProcessResult cut = embedded({"--ids", "3,17,5", "--ids", "8", "--ids", longest});
    CHECK(cut.status == 2);
    const auto at = cut.output.find(
        "bert: text 3 has 151 tokens, but this bert reads 150 at most "
        "(max_position_embeddings)\n");
    CHECK(at != std::string::npos);
    CHECK(lines_of_numbers(cut.output.substr(0, at)).size() >= 2);

    const auto mistake = [&](std::vector<std::string> options, const std::string& said) {
        const ProcessResult result = embedded(std::move(options));
        CHECK(result.status == 2);
        CHECK_MESSAGE(result.output.find(said) != std::string::npos, result.output);
    };
    mistake({"--ids", "3", "--pool", "last"}, "--pool takes mean or first, not 'last'");
    mistake({"--tokenizer", path("tokenizer.json"), ""},
            "the text '' has no tokens, and so no vector");
    mistake({"--ids", "29"}, "input ids[0, 0] is the id 29; ids are from 0 to 28");
    mistake({"--ids", "29", "--output", path("none/vectors")}, "cannot write");
    mistake({"w3"}, "there is no tokenizer.json beside the weights");
}
