// `fovea run`: what it refuses before it compiles anything.
#include <doctest/doctest.h>

#include "runtime/safetensors.h"
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

TEST_CASE("what a model does not use of its files is said, also of the reference") {
    const fovea::tool::TemporaryFolder folder;
    const std::string out = (folder.path() / "out.safetensors").string();
    const std::vector<float> spare{1};
    const auto with_spare = [&](const std::string& name) {
        const auto file =
            fovea::runtime::read_safetensors(FOVEA_SOURCE_DIR "/tests/parity/add_norm-0/" + name);
        std::vector<fovea::runtime::TensorView> tensors(file.tensors().begin(),
                                                        file.tensors().end());
        tensors.push_back(fovea::runtime::f32_tensor("spare", {1}, spare));
        fovea::runtime::write_safetensors((folder.path() / name).string(), tensors);
        return (folder.path() / name).string();
    };
    // The inputs of this case have the gradient of its output, too.
    const std::string weights = with_spare("weights.safetensors"),
                      inputs = with_spare("inputs.safetensors");
    for (const char* target : {"cpu", "reference"}) {
        const auto result = run_fovea({"run", "add_norm", "--set", "hidden=9", "--target", target,
                                       "--weights", weights, "--inputs", inputs, "--outputs", out});
        CHECK(result.status == 0);
        for (const std::string& path : {weights, inputs})
            CHECK(result.output.find("warning: '" + path +
                                     "' has tensors that add_norm does not") != std::string::npos);
    }
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
