// Folders of checkpoints beside what a program was built with.
#include "runtime/language/checkpoint_folder.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "runtime/error.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;

namespace {

Model tagger() {
    Model model;
    model.name = "tagger";
    model.settings = {{"num_attention_heads", "4"},
                      {"rms_norm_eps", "1e-6"},
                      {"rope_theta", "10000"},
                      {"tie_word_embeddings", "true"},
                      {"layer_types", "full_attention,sliding_attention"},
                      {"dtype", "bf16"},
                      {"max_position_embeddings", "64"},
                      {"dropout", "0.1", false, true}};
    return model;
}

/// What is said of a folder with this `config.json`; nothing where its weights are read.
std::string said_of_folder(const std::string& config) {
    const fovea::test::TemporaryFolder folder;
    const std::vector<float> values = {1, 2, 3};
    write_safetensors(folder.file("model.safetensors"), {f32_tensor("x", {3}, values)});
    std::ofstream(folder.file("config.json")) << config;
    const std::string path = std::filesystem::path(folder.file("x")).parent_path().string();
    try {
        const SafetensorsFile weights = read_checkpoint(tagger(), path);
        if (!weights.find("x")) return "no weights";
    } catch (const UserError& error) {
        std::string text = error.what();
        for (std::size_t at; (at = text.find(path)) != std::string::npos;)
            text.replace(at, path.size(), "DIR");
        return text;
    }
    return "";
}

}  // namespace

TEST_CASE("a folder of the settings that a program was built with is read") {
    CHECK(said_of_folder("{}").empty());
    CHECK(said_of_folder(
              R"({"num_attention_heads": 4, "rms_norm_eps": 0.000001, "rope_theta": 10000.0,
                      "tie_word_embeddings": true, "dtype": "float32", "dropout": 0.0,
                      "max_position_embeddings": 4096, "num_layers": 7,
                      "layer_types": ["full_attention", "sliding_attention"]})")
              .empty());
    CHECK(said_of_folder(R"({"num_attention_heads": null,
                      "rope_parameters": {"rope_type": "default", "rope_theta": 10000}})")
              .empty());
}

TEST_CASE("a folder of other settings is refused with the field") {
    CHECK(said_of_folder(R"({"num_attention_heads": 8})") ==
          "'DIR/config.json' has num_attention_heads = 8, and this tagger was built with 4: build "
          "one with `--checkpoint DIR`, or give the file of the weights alone");
    for (const char* config :
         {R"({"rms_norm_eps": 1e-5})", R"({"tie_word_embeddings": false})",
          R"({"rope_parameters": {"rope_theta": 1000000.0}})", R"({"rope_theta": "linear"})",
          R"({"rope_scaling": {"rope_theta": 500000}})", R"({"layer_types": ["full_attention"]})"})
        CHECK_MESSAGE(
            said_of_folder(config).find(", and this tagger was built with ") != std::string::npos,
            config);
}
