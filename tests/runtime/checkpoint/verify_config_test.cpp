// Folders of checkpoints beside what a program was built with.
#include "runtime/checkpoint/verify_config.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "runtime/checkpoint/read_checkpoint.h"
#include "runtime/error.h"
#include "runtime/typed/typed_model.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;

namespace {

Model tagger() {
    Model model;
    model.name = "tagger";
    model.settings = {{"num_attention_heads", "4", true},
                      {"rms_norm_eps", "1e-6", true},
                      {"rope_theta", "10000", true},
                      {"rope_type", "default", true},
                      {"tie_word_embeddings", "true", true},
                      {"layer_types", "full_attention,sliding_attention", true},
                      {"dtype", "bf16"},
                      {"max_position_embeddings", "64"},
                      {"dropout", "0.1", false, true}};
    model.config_fields = {"hidden_act silu swish"};
    model.verified_configs = &kVerifiedConfigs;
    return model;
}

/// As generated headers read one.
struct Typed : TypedModel {
    Typed(const Model& model, const std::string& file) : TypedModel(model, file) {}
};

/// What is said of a folder with this `config.json`; nothing where its weights are read.
std::string said_of_folder(const std::string& config, const Model& model = tagger()) {
    const fovea::test::TemporaryFolder folder;
    const std::vector<float> values = {1, 2, 3};
    write_safetensors(folder.file("model.safetensors"), {f32_tensor("x", {3}, values)});
    std::ofstream(folder.file("config.json")) << config;
    const std::string path = std::filesystem::path(folder.file("x")).parent_path().string();
    try {
        const SafetensorsFile weights = read_checkpoint(model, path);
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

TEST_CASE("so are they by every reader of weights") {
    const fovea::test::TemporaryFolder folder;
    const std::vector<float> values = {1, 2, 3};
    write_safetensors(folder.file("model.safetensors"), {f32_tensor("x", {3}, values)});
    std::ofstream(folder.file("config.json")) << R"({"num_attention_heads": 8})";
    const std::string path = std::filesystem::path(folder.file("x")).parent_path().string();
    const std::string said = "'" + path +
                             "/config.json' has num_attention_heads = 8, and this tagger was "
                             "built with 4: build one with `--checkpoint " +
                             path + "`, or give the file of the weights alone";
    Model model = tagger();
    model.parameters = {{.name = "x", .shape = {3}}};
    CHECK_THROWS_WITH_AS(Typed(model, path), said.c_str(), UserError);
    CHECK_NOTHROW(Typed(model, folder.file("model.safetensors")));
    Model without = model;
    without.verified_configs = nullptr;
    CHECK_NOTHROW(Typed(without, path));
}

TEST_CASE("a folder that says nothing of a setting, or null, has its default, or none") {
    Model model;
    model.name = "tagger";
    model.verified_configs = &kVerifiedConfigs;
    const auto with = [&](const char* setting, const char* value, bool is_default,
                          const char* config) {
        model.settings = {{setting, value, is_default}};
        return said_of_folder(config, model);
    };
    const std::string build =
        "build one with `--checkpoint DIR`, or give the file of the weights "
        "alone";
    CHECK(with("sliding_window", "5", false, R"({"sliding_window": null})") ==
          "'DIR/config.json' has sliding_window = null, and this tagger was built with 5: " +
              build);
    CHECK(with("sliding_window", "4096", true, R"({"sliding_window": null})").size() > 0);
    CHECK(with("sliding_window", "0", false, R"({"sliding_window": null})").empty());
    CHECK(with("attn_logit_softcapping", "50", true, R"({"attn_logit_softcapping": null})").size() >
          0);
    CHECK(
        with("rope_type", "llama3", false, R"({"model_type": "tagger", "rope_scaling": null})") ==
        "'DIR/config.json' lacks rope_type, which then has its default, and this tagger was built "
        "with llama3: " +
            build);
    CHECK(with("rope_type", "default", true, R"({"rope_scaling": null})").empty());
    // What transformers takes in its place.
    CHECK(with("num_key_value_heads", "8", true,
               R"({"num_key_value_heads": null, "num_attention_heads": 4})")
              .size() > 0);
    CHECK(with("num_key_value_heads", "4", false,
               R"({"num_key_value_heads": null, "num_attention_heads": 4})")
              .empty());
    // Of two fields of positions the older one counts.
    const char* const both = R"({"rope_parameters": {"rope_type": "default"},
        "rope_scaling": {"rope_type": "linear", "factor": 2}})";
    CHECK(with("rope_type", "linear", false, both).empty());
    CHECK(with("rope_type", "default", true, both).size() > 0);
}

TEST_CASE("a folder of what the model is not right for is refused with the field") {
    CHECK(said_of_folder(R"({"hidden_act": "swish"})").empty());
    CHECK(said_of_folder(R"({"hidden_act": "gelu"})") ==
          "'DIR/config.json' has hidden_act = \"gelu\", but tagger is right for silu and swish "
          "alone");
}

TEST_CASE("what a model is right for may have blanks, line feeds and backslashes") {
    Model model = tagger();
    model.config_fields = {R"(two\swords of\sa\nkind\\)"};
    CHECK(said_of_folder(R"({"two words": "of a\nkind\\"})", model) == "");
    CHECK(said_of_folder(R"({"two words": "of"})", model) ==
          "'DIR/config.json' has two words = \"of\", but tagger is right for of a\nkind\\ alone");
}
