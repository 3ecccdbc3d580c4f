// Checkpoints as transformers writes them: their settings, their weights, and what is said of wrong
// ones. The package itself is asked where a Python has it.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "models/registry.h"
#include "runtime/files/fit_names.h"
#include "runtime/files/read_weights.h"
#include "tests/python/python_with.h"
#include "tools/fovea/files/checkpoint.h"
#include "tools/fovea/process.h"

using namespace fovea;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

/// What reading says of a mistake.
template <class Read>
std::string said(const fs::path& folder, const Read& read) {
    try {
        read();
    } catch (const std::exception& error) {
        std::string text = error.what();
        for (std::size_t at; (at = text.find(folder.string())) != std::string::npos;)
            text.replace(at, folder.string().size(), "DIR");
        return text;
    }
    return "nothing";
}

SettingValues settings_of(const char* model, const std::string& config) {
    const tool::TemporaryFolder folder;
    write(folder.path() / "config.json", config);
    ModelEntry entry = *models::find_model(model);
    return tool::settings_of_checkpoint(entry, folder.path().string());
}

std::string said_of(const char* model, const std::string& config) {
    const tool::TemporaryFolder folder;
    write(folder.path() / "config.json", config);
    ModelEntry entry = *models::find_model(model);
    return said(folder.path(),
                [&] { tool::settings_of_checkpoint(entry, folder.path().string()); });
}

void write_tensors(const fs::path& path, const std::vector<std::string>& names) {
    static const float values[] = {1, 2};
    std::vector<runtime::TensorView> tensors;
    for (const std::string& name : names) tensors.push_back(runtime::f32_tensor(name, {2}, values));
    runtime::write_safetensors(path.string(), tensors);
}

std::string said_of_weights(const fs::path& folder) {
    return said(folder, [&] { runtime::read_weights(folder.string()); });
}

std::vector<std::string> names_in(const runtime::SafetensorsFile& file) {
    std::vector<std::string> names;
    for (const runtime::TensorView& tensor : file.tensors()) names.push_back(tensor.name);
    return names;
}

}  // namespace

TEST_CASE("settings are the fields of config.json, also those of rotary positions") {
    const SettingValues values = settings_of("llama", R"({
        "model_type": "llama", "hidden_act": "silu", "hidden_size": 64, "rms_norm_eps": 1e-05,
        "head_dim": null, "tie_word_embeddings": true, "use_cache": true,
        "rope_theta": 10000.0, "rope_scaling": {"type": "linear", "factor": 2.0}})");
    CHECK(values == SettingValues{{"hidden_size", "64"},
                                  {"num_key_value_heads", "32"},
                                  {"rms_norm_eps", "1e-05"},
                                  {"rope_theta", "10000.0"},
                                  {"tie_word_embeddings", "true"},
                                  {"rope_type", "linear"},
                                  {"factor", "2.0"}});
    const SettingValues newer = settings_of("llama", R"({"rope_parameters": {"rope_theta": 5e5}})");
    REQUIRE(newer.size() == 1);
    CHECK(newer[0].first == "rope_theta");
    CHECK(std::stod(newer[0].second) == 5e5);
    CHECK(settings_of("mistral", R"({"sliding_window": null})") ==
          SettingValues{{"sliding_window", "0"}});
    CHECK(settings_of("gemma2", R"({"layer_types": ["full_attention", "sliding_attention"]})") ==
          SettingValues{{"layer_types", "full_attention,sliding_attention"}});
    CHECK(settings_of("llama", R"({"vocab_size": 50, "pad_token_id": -1})") ==
          SettingValues{{"vocab_size", "50"}, {"pad_token_id", "49"}});
    CHECK(settings_of("vit", R"({"id2label": {"0": "a", "1": "b", "2": "c"}})") ==
          SettingValues{{"num_labels", "3"}});
    CHECK(settings_of("vit", "{}") == SettingValues{{"num_labels", "2"}});
}

TEST_CASE("layers of Gemma 3 have positions of their own, also in files that name them otherwise") {
    const std::string full = "rope_parameters.full_attention.",
                      local = "rope_parameters.sliding_attention.";
    const SettingValues expected = {{"pad_token_id", "0"},
                                    {full + "rope_theta", "500.0"},
                                    {full + "rope_type", "linear"},
                                    {full + "factor", "8.0"},
                                    {local + "rope_theta", "100.0"}};
    const std::string start = R"({"model_type": "gemma3_text", )";
    CHECK(settings_of("gemma3", start + R"("rope_parameters": {
        "full_attention": {"rope_type": "linear", "rope_theta": 500.0, "factor": 8.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}})") == expected);
    CHECK(settings_of("gemma3", start + R"("rope_theta": 500.0, "rope_local_base_freq": 100.0,
        "rope_scaling": {"type": "linear", "factor": 8.0}})") == expected);
    CHECK(said_of("gemma3", start + R"("rope_parameters": {
        "full_attention": {"type": "linear", "rope_theta": 500.0}}})") ==
          "'DIR/config.json': rope_parameters.full_attention of the kind linear lacks 'factor'");
    CHECK(said_of("gemma3", start + R"("rope_parameters": {
        "sliding_attention": {"rope_type": "linear", "factor": 8.0}}})") ==
          "'DIR/config.json' has rope_parameters.sliding_attention.rope_type = \"linear\", but "
          "gemma3 is right for default alone");
    CHECK(said_of("gemma3", R"({"model_type": "gemma3"})") ==
          "'DIR/config.json' has model_type = \"gemma3\", but gemma3 is right for gemma3_text "
          "alone");
}

TEST_CASE("what a file lacks is what transformers takes for it") {
    const auto value = [](const char* model, const std::string& fields, const char* setting) {
        const std::string config = R"({"model_type": ")" + std::string(model) + "\", " + fields;
        for (const auto& [name, text] : settings_of(model, config + "}"))
            if (name == setting) return text;
        return std::string("default");
    };
    // T5 1.1 has a head of its own, and reads with it what is not scaled.
    const char* const scales = "scale_decoder_outputs";
    CHECK(value("t5", R"("tie_word_embeddings": false)", scales) == "false");
    CHECK(value("t5", R"("tie_word_embeddings": true)", scales) == "true");
    CHECK(value("t5", R"("d_ff": 8)", scales) == "true");
    CHECK(value("t5", R"("tie_word_embeddings": false, "scale_decoder_outputs": true)", scales) ==
          "true");
    // Heads.
    const char* const keys = "num_key_value_heads";
    CHECK(value("llama", R"("num_attention_heads": 4)", keys) == "4");
    for (const char* model : {"llama", "mistral", "qwen2", "qwen3"})
        CHECK(value(model, R"("num_attention_heads": 4, "num_key_value_heads": null)", keys) ==
              "4");
    for (const char* model : {"phi3", "olmo2"})
        CHECK(value(model, R"("num_attention_heads": 4)", keys) == "4");
    CHECK(value("phi3", R"("hidden_size": 16)", "pad_token_id") == "32000");
    CHECK(value("phi3", R"("pad_token_id": null)", "pad_token_id") == "default");
    CHECK(value("mistral", R"("num_attention_heads": 4)", keys) == "default");
    CHECK(value("qwen3", R"("num_attention_heads": 4)", keys) == "32");
    CHECK(value("qwen3", R"("num_attention_heads": 4)", "head_dim") == "128");
    // Positions: YaRN, and two fields of them.
    const std::string length = R"("max_position_embeddings": 64, )";
    const char* const original = "original_max_position_embeddings";
    CHECK(value("llama", length + R"("rope_scaling": {"type": "yarn", "factor": 4})", original) ==
          "64");
    CHECK(value("llama", length + R"("rope_parameters": {"rope_type": "yarn", "factor": null,
                "original_max_position_embeddings": 16})",
                "factor") == "4.0");
    const std::string both = R"("rope_parameters": {"rope_type": "default", "rope_theta": 5},
        "rope_scaling": {"type": "linear", "factor": 2.0})";
    CHECK(value("llama", both, "rope_type") == "linear");
    CHECK(value("llama", both, "rope_theta") == "default");
    CHECK(said_of("llama", R"({"rope_scaling": {"type": "yarn", "factor": 4}})") ==
          "'DIR/config.json': rope_scaling of the kind yarn lacks "
          "'original_max_position_embeddings', and max_position_embeddings is no number to take "
          "for it");
    CHECK(said_of("llama", R"({"rope_scaling": {"type": "linear", "factor": null}})") ==
          "'DIR/config.json': rope_scaling of the kind linear lacks 'factor'");
}

TEST_CASE("what a model is not right for is said") {
    CHECK(said_of("llama", R"({"model_type": "mistral"})") ==
          "'DIR/config.json' has model_type = \"mistral\", but llama is right for llama alone");
    CHECK(said_of("gpt2", R"({"activation_function": "relu"})") ==
          "'DIR/config.json' has activation_function = \"relu\", but gpt2 is right for gelu_new "
          "and gelu_pytorch_tanh alone");
    CHECK(said_of("llama", R"({"rope_parameters": {"full_attention": {"rope_theta": 1.0}}})") ==
          "'DIR/config.json': rope_parameters differ from layer to layer ('full_attention'), and "
          "the model has no setting such as rope_parameters.full_attention.rope_theta");
    CHECK(said_of("phi3", R"({"rope_scaling": {"type": "longrope", "short_factor": [1, 1]}})") ==
          "'DIR/config.json' has rope_type = \"longrope\", but phi3 is right for default alone");
    CHECK(said_of("llama", R"({"rope_scaling": {"hidden_size": 16}})") ==
          "'DIR/config.json': rope_scaling has 'hidden_size', which no model has here");
    CHECK(said_of("llama", R"({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}})") ==
          "'DIR/config.json': rope_scaling of the kind llama3 lacks 'low_freq_factor'");
    CHECK(said_of("llama", R"({"rope_scaling": {"type": "linear"}})") ==
          "'DIR/config.json': rope_scaling of the kind linear lacks 'factor'");
    CHECK(said_of("llama", R"({"rope_parameters": {"rope_type": "default"}})") == "nothing");
    CHECK(said_of("llama", R"({"rope_scaling": 3})") ==
          "'DIR/config.json': rope_scaling should be an object, but is of kind integer");
    CHECK(said_of("llama", "[]") ==
          "'DIR/config.json' should be a JSON object, but is of kind array");
    CHECK(said_of("llama", "{").starts_with("'DIR/config.json': line 1, column"));
    const tool::TemporaryFolder folder;
    ModelEntry entry = *models::find_model("llama");
    CHECK(
        said(folder.path(), [&] { tool::settings_of_checkpoint(entry, folder.path().string()); }) ==
        "'DIR' is no checkpoint: there is no 'DIR/config.json'; --checkpoint takes the folder that "
        "save_pretrained wrote");
}

TEST_CASE("a model of one's own has the fields of its settings, and keeps what others were") {
    ModelEntry mine;
    mine.name = "mine";
    for (const char* name : {"hidden_size", "rope_parameters.short_factor",
                             "rope_parameters.full_attention.rope_theta"}) {
        SettingSpec spec{};
        spec.name = name;
        mine.settings.push_back(spec);
    }
    const tool::TemporaryFolder folder;
    write(folder.path() / "config.json", R"({"model_type": "neox", "hidden_size": 16,
        "hidden_act": "relu", "use_cache": true, "pad_token_id": 3, "sliding_window": null,
        "kinds": ["full", "none"], "inner": {"a b": 1}, "id2label": {"0": "x"},
        "rope_parameters": {"full_attention": {"rope_theta": 500000}, "short_factor": [1, 2]}})");
    const SettingValues expected = {{"hidden_size", "16"},
                                    {"rope_parameters.short_factor", "1,2"},
                                    {"rope_parameters.full_attention.rope_theta", "500000"}};
    CHECK(tool::settings_of_checkpoint(mine, folder.path().string()) == expected);
    CHECK(tool::config_fields(mine.checkpoint) ==
          std::vector<std::string>{"model_type neox", "hidden_act relu", "kinds full,none",
                                   R"(inner {"a\sb":1})"});
    // From now on it is right for these alone.
    write(folder.path() / "config.json", R"({"hidden_act": "gelu"})");
    CHECK(said(folder.path(), [&] {
              tool::settings_of_checkpoint(mine, folder.path().string());
          }) == "'DIR/config.json' has hidden_act = \"gelu\", but mine is right for relu alone");
    mine.settings.resize(1);
    write(folder.path() / "config.json", R"({"rope_scaling": {"short_factor": [1, 2]}})");
    CHECK(said(folder.path(), [&] {
              tool::settings_of_checkpoint(mine, folder.path().string());
          }) == "'DIR/config.json': rope_scaling has 'short_factor', which no model has here");
}

TEST_CASE("weights of a folder are its file, or its shards together") {
    const tool::TemporaryFolder folder;
    CHECK(said_of_weights(folder.path()) ==
          "'DIR' is a folder without model.safetensors and without model.safetensors.index.json");
    write_tensors(folder.path() / "one.safetensors", {"a", "c"});
    write_tensors(folder.path() / "two.safetensors", {"b"});
    const fs::path index = folder.path() / "model.safetensors.index.json";
    const auto with = [&](const std::string& map) {
        write(index, R"({"metadata": {}, "weight_map": )" + map + "}");
        return said_of_weights(folder.path());
    };
    const std::string no_index =
        "'DIR/model.safetensors.index.json' is not the index of a checkpoint: ";
    CHECK(with("3") == no_index + "it has no object 'weight_map'");
    CHECK(with("{}") == no_index + "'weight_map' is empty");
    CHECK(with(R"({"a": "../one.safetensors"})") ==
          no_index + "tensor 'a' should have the name of a file, not \"../one.safetensors\"");
    CHECK(
        with(R"({"b": "one.safetensors"})") ==
        "'DIR/one.safetensors' lacks tensor 'b', which 'DIR/model.safetensors.index.json' says is "
        "there");
    CHECK(with(R"({"a": "none.safetensors"})") ==
          "cannot read 'DIR/none.safetensors': No such file or directory");
    CHECK(with(R"({"a": "one.safetensors", "b": "two.safetensors"})") == "nothing");
    CHECK(names_in(runtime::read_weights(folder.path().string())) ==
          std::vector<std::string>{"a", "b", "c"});
    write_tensors(folder.path() / "two.safetensors", {"a", "b"});
    CHECK(with(R"({"a": "one.safetensors", "b": "two.safetensors"})") ==
          "tensor 'a' stands in two files, 'DIR/two.safetensors' and one of 'DIR'");
    write_tensors(folder.path() / "model.safetensors", {"whole"});
    CHECK(names_in(runtime::read_weights(folder.path().string())) ==
          std::vector<std::string>{"whole"});
}

TEST_CASE("names of a base alone, and of a larger model, are made those of the parameters") {
    const tool::TemporaryFolder folder;
    const auto fitted = [&](const std::vector<std::string>& there,
                            const std::vector<runtime::ParameterNames>& parameters) {
        const std::string path = (folder.path() / "weights").string();
        write_tensors(path, there);
        runtime::SafetensorsFile file = runtime::read_weights(path);
        runtime::fit_names(file, parameters);
        return names_in(file);
    };
    using Names = std::vector<std::string>;
    CHECK(fitted({"h.0.w", "wte"}, {{"t.h.0.w"}, {"t.wte", "lm_head"}}) ==
          Names{"t.h.0.w", "t.wte"});
    CHECK(fitted({"bert.a", "bert.b", "cls.a"}, {{"a"}, {"b"}}) == Names{"a", "b", "cls.a"});
    // Two ways, one parameter alone, and names that are there already.
    CHECK(fitted({"x.a", "x.b", "y.a", "y.b"}, {{"a"}, {"b"}}) ==
          Names{"x.a", "x.b", "y.a", "y.b"});
    CHECK(fitted({"x.a"}, {{"a"}}) == Names{"x.a"});
    CHECK(fitted({"a", "b", "x.a", "x.b"}, {{"a"}, {"b"}}) == Names{"a", "b", "x.a", "x.b"});
    // Where some are missing, the others are what they are: but for one way as good as another.
    CHECK(fitted({"x.a", "x.b"}, {{"a"}, {"b"}, {"c"}}) == Names{"a", "b"});
    CHECK(fitted({"x.a", "y.b"}, {{"a"}, {"b"}, {"c"}}) == Names{"x.a", "y.b"});
    CHECK(fitted({"a", "x.b"}, {{"a"}, {"b"}}) == Names{"a", "x.b"});
}

namespace {

/// Runs a script of this folder with a Python that has transformers, where there is one.
void run_script(const std::string& name) {
    const std::string python = test::python_with("transformers", ", torch, safetensors, numpy");
    if (python.empty()) return;
    const std::string script = FOVEA_SOURCE_DIR "/tests/checkpoints/" + name;
    const std::string command = FOVEA_BINARY_DIR "/fovea";
    const tool::ProcessResult result =
        tool::run_process({"env", "PYTHONDONTWRITEBYTECODE=1", python, script, command});
    CHECK_MESSAGE(result.status == 0, result.output);
}

}  // namespace

TEST_CASE("checkpoints that transformers writes run as they lie") { run_script("checkpoints.py"); }

TEST_CASE("trainings have the losses of PyTorch's") { run_script("training.py"); }
