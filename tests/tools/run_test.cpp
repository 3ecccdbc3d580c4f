// `fovea run`: what it refuses before it compiles anything.
#include <doctest/doctest.h>

#include "tests/tools/run_fovea.h"

using fovea::test::read_text;
using fovea::test::run_fovea;

namespace {

/// A compiler that notes each call in a file beside it.
struct NotedCompiler {
    fovea::tool::TemporaryFolder folder;
    std::filesystem::path script = folder.path() / "noted", calls = folder.path() / "calls";

    NotedCompiler() {
        std::ofstream(script) << "#!/bin/sh\necho called >> '" << calls.string()
                              << "'\nexec g++ \"$@\"\n";
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    }
};

}  // namespace

TEST_CASE("missing weights and inputs are refused before kernels are compiled") {
    const NotedCompiler compiler;
    const std::string cases = FOVEA_SOURCE_DIR "/tests/parity/";
    const auto run = [&](const std::string& model, const std::string& inputs) {
        return run_fovea({"run", model, "--inputs", cases + inputs + "/inputs.safetensors",
                          "--outputs", (compiler.folder.path() / "out.safetensors").string()},
                         {"CXX=" + compiler.script.string(),
                          "XDG_CACHE_HOME=" + compiler.folder.path().string()});
    };
    const auto without_weights = run("add_norm", "add_norm-0");
    CHECK(without_weights.status == 2);
    CHECK(without_weights.output ==
          "fovea: add_norm has 2 parameters ('ln.weight', …); give them with --weights FILE\n");
    const auto without_input = run("masked_softmax", "add_norm-0");
    CHECK(without_input.status == 2);
    CHECK(without_input.output.find("lacks the input 'scores'") != std::string::npos);
    CHECK(read_text(compiler.calls).empty());

    CHECK(run("masked_softmax", "masked_softmax-0").status == 0);
    CHECK_FALSE(read_text(compiler.calls).empty());
}

TEST_CASE("what a checkpoint does not say is what was given beside it") {
    const fovea::tool::TemporaryFolder folder;
    const std::string weights = folder.path().string();
    const std::string inputs = FOVEA_SOURCE_DIR "/tests/parity/masked_softmax-0/inputs.safetensors";
    std::filesystem::copy(inputs, folder.path() / "model.safetensors");
    std::ofstream(folder.path() / "config.json") << R"({"model_type": "llama"})";
    const auto result =
        run_fovea({"run", "llama", "--set", "num_hidden_layers=1", "--set", "rope_theta=500000",
                   "--checkpoint", weights, "--target", "reference", "--weights", weights,
                   "--inputs", inputs, "--outputs", weights + "/out"});
    CHECK(result.output.find("config.json") == std::string::npos);
    CHECK(result.output.find("'model.embed_tokens.weight'") != std::string::npos);  // it lacks it
}

TEST_CASE("a folder of weights for other settings is refused") {
    const fovea::tool::TemporaryFolder folder;
    const std::string weights = folder.path().string();
    const std::string inputs = FOVEA_SOURCE_DIR "/tests/parity/masked_softmax-0/inputs.safetensors";
    std::filesystem::copy(inputs, folder.path() / "model.safetensors");
    std::ofstream(folder.path() / "config.json") << R"({"rope_theta": 500000})";
    for (const char* target : {"cpu", "reference"}) {
        const auto run = [&](const std::string& set) {
            return run_fovea({"run", "llama", "--set", "num_hidden_layers=1", "--set", set,
                              "--target", target, "--weights", weights, "--inputs", inputs,
                              "--outputs", weights + "/out"});
        };
        const auto other = run("rope_theta=10000");
        CHECK(other.status == 2);
        CHECK(other.output == "fovea: '" + weights +
                                  "/config.json' has rope_theta = 500000, and this llama was built "
                                  "with 10000: build one with `--checkpoint " +
                                  weights + "`, or give the file of the weights alone\n");
        CHECK(run("rope_theta=500000").output.find("config.json") == std::string::npos);
    }
}
