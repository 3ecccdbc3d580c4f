// What `adapter_config.json` may say beside an adapter: fields that change what is computed are
// refused by name.
#include "runtime/language/adapter_config.h"

#include <doctest/doctest.h>

#include <fstream>

#include "runtime/error.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;

namespace {

/// What is said of a configuration of rank 4 and alpha 8 with more fields; nothing where it is
/// right.
std::string said_of(const std::string& fields) {
    Model model;
    model.settings = {{"lora_rank", "4"}, {"lora_alpha", "8"}};
    const fovea::test::TemporaryFolder folder;
    const std::string path = folder.file("adapter_config.json");
    std::ofstream(path) << R"({"peft_type": "LORA", "r": 4, "lora_alpha": 8)" << fields << "}";
    try {
        verify_adapter_config(model, folder.file("adapter_model.safetensors"));
    } catch (const UserError& error) {
        std::string text = error.what();
        text.replace(text.find(path), path.size(), "CONFIG");
        return text;
    }
    return "";
}

/// What the package writes of an adapter that is nothing but pairs.
constexpr const char* kPlain = R"(,
    "alora_invocation_tokens": null, "alpha_pattern": {}, "arrow_config": null,
    "auto_mapping": {"base_model_class": "PeftModel", "parent_library": "peft.peft_model"},
    "base_model_name_or_path": "a/b", "bias": "none", "corda_config": null,
    "ensure_weight_tying": false, "eva_config": {"rho": 2.0}, "exclude_modules": ["lm_head"],
    "fan_in_fan_out": true, "inference_mode": true, "init_lora_weights": true,
    "layer_replication": null, "layers_pattern": null, "layers_to_transform": [0, 1],
    "loftq_config": {}, "lora_bias": false, "lora_dropout": 0.05, "megatron_config": null,
    "megatron_core": "megatron.core", "modules_to_save": null, "peft_version": "0.18.0",
    "qalora_group_size": 16, "rank_pattern": {}, "revision": null,
    "target_modules": ["v_proj", "q_proj"], "target_parameters": [], "task_type": "CAUSAL_LM",
    "trainable_token_indices": null, "use_dora": false, "use_qalora": false, "use_rslora": false)";

}  // namespace

TEST_CASE("a configuration of nothing but pairs is read") {
    CHECK(said_of("") == "");
    CHECK(said_of(kPlain) == "");
    for (const char* start : {"true", "false", "null", R"("gaussian")", R"("eva")"})
        CHECK(said_of(std::string(R"(, "init_lora_weights": )") + start) == "");
}

TEST_CASE("fields that change what is computed are refused by name, known or not") {
    const std::pair<const char*, const char*> fields[] = {
        {"use_dora", "true"},
        {"use_rslora", "true"},
        {"lora_bias", "true"},
        {"use_qalora", "true"},
        {"alpha_pattern", R"({"q_proj":2})"},
        {"rank_pattern", R"({"q_proj":1})"},
        {"modules_to_save", R"(["lm_head"])"},
        {"layer_replication", "[[0,1],[0,1]]"},
        {"trainable_token_indices", "[0,3]"},
        {"target_parameters", R"(["mlp.experts"])"},
        {"alora_invocation_tokens", "[1,2]"},
        {"of_years_to_come", R"("yes")"}};
    for (const auto& [field, value] : fields)
        CHECK(said_of(std::string(R"(, ")") + field + R"(": )" + value) ==
              std::string("'CONFIG' has ") + field + " = " + value + ", which no program has here");
    CHECK(said_of(R"(, "bias": "all")") ==
          "'CONFIG' has bias = \"all\", but adapters here have none");
    for (const char* start : {R"("pissa")", R"("pissa_niter_16")", R"("olora")", R"("loftq")"})
        CHECK(said_of(std::string(R"(, "init_lora_weights": )") + start)
                  .starts_with(std::string("'CONFIG' has init_lora_weights = ") + start + ", "));
    CHECK(said_of(R"(, "r": 4, "lora_alpha": 16)") != "");
}
