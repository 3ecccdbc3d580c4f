#include "checkpoint_config.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "../error.h"

namespace fovea::runtime {

namespace {

constexpr const char* kOriginalLength = "original_max_position_embeddings";
constexpr const char* kLength = "max_position_embeddings";
constexpr const char *kHeads = "num_attention_heads", *kKeyHeads = "num_key_value_heads";
constexpr const char* kPadding = "pad_token_id";
constexpr const char* kScalesOutputs = "scale_decoder_outputs";

/// What settings begin with that are fields of positions alone, or of those of some layers.
const std::string kOfPositionsAlone = "rope_parameters.";

/// Fields that change no output of a model without dropout: of training and of tokens, of what is
/// kept and returned, and of what wrote the file.
constexpr std::string_view kWithoutEffect[] = {"_name_or_path",
                                               "architectures",
                                               "attention_dropout",
                                               "attention_probs_dropout_prob",
                                               "attn_pdrop",
                                               "auto_map",
                                               "bos_token_id",
                                               "chunk_size_feed_forward",
                                               "classifier_dropout",
                                               "cls_token_id",
                                               "decoder_start_token_id",
                                               "dropout",
                                               "dtype",
                                               "embd_pdrop",
                                               "embedding_dropout",
                                               "eos_token_id",
                                               "finetuning_task",
                                               "gradient_checkpointing",
                                               "hidden_dropout",
                                               "hidden_dropout_prob",
                                               "id2label",
                                               "initializer_factor",
                                               "initializer_range",
                                               "label2id",
                                               "mask_token_id",
                                               "max_position_embeddings",
                                               "n_positions",
                                               "num_labels",
                                               "output_attentions",
                                               "output_hidden_states",
                                               "output_router_logits",
                                               "pad_token_id",
                                               "problem_type",
                                               "pruned_heads",
                                               "resid_pdrop",
                                               "return_dict",
                                               "router_aux_loss_coef",
                                               "sep_token_id",
                                               "task_specific_params",
                                               "tokenizer_class",
                                               "torch_dtype",
                                               "transformers_version",
                                               "unk_token_id",
                                               "use_cache"};

/// What `rope_parameters` may hold; the share of turned features is checked like other fields.
constexpr std::string_view kOfPositions[] = {
    "rope_type",        "rope_theta", "factor",    kOriginalLength,    "low_freq_factor",
    "high_freq_factor", "beta_fast",  "beta_slow", "attention_factor", "partial_rotary_factor"};

/// What a kind of positions must say: a default would be the positions of another model.
struct Needed {
    std::string_view kind, field;
};
constexpr Needed kNeeded[] = {{"linear", "factor"},
                              {"yarn", "factor"},
                              {"llama3", "factor"},
                              {"llama3", "low_freq_factor"},
                              {"llama3", "high_freq_factor"}};

/// What transformers takes for a field that the file of such a model lacks, where a setting's
/// default is another value.
struct Lacking {
    std::string_view model;
    const char* field;
    std::int64_t value;
};
constexpr Lacking kLacking[] = {
    {"gemma3_text", "pad_token_id", 0},
    {"mistral", "intermediate_size", 14336},
    {"olmo2", "pad_token_id", 1},
    {"phi3", "pad_token_id", 32000},
    {"qwen2", "intermediate_size", 22016},
    {"qwen2", "vocab_size", 151936},
    {"qwen2", kKeyHeads, 32},
    {"qwen3", "intermediate_size", 22016},
    {"qwen3", "vocab_size", 151936},
    {"qwen3", "head_dim", 128},
    {"qwen3", kKeyHeads, 32},
};

/// Models that have as many heads of keys as of queries where the file says nothing.
constexpr std::string_view kWithAsManyKeys[] = {"llama", "olmo2", "phi3"};

/// Settings that null turns off.
constexpr std::string_view kOffByNull[] = {"sliding_window", "attn_logit_softcapping",
                                           "final_logit_softcapping"};

template <class List>
bool is_among(const List& list, const std::string& text) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

bool is_there(const Json* value) { return value && !value->is_null(); }

/// Whether a field is whole positions, which stand among the others, or plain ones of some layers.
bool is_of_positions(const std::string& field, const Json& value) {
    constexpr std::string_view kWhole[] = {"rope_parameters", "rope_scaling"};
    const bool is_kind = field.starts_with(kOfPositionsAlone) && field.ends_with(".rope_type");
    return is_among(kWhole, field) || (is_kind && setting_text(value) == "default");
}

/// Older files call the kind of positions `type`.
std::string own_name(const std::string& field) { return field == "type" ? "rope_type" : field; }

std::string kind_of_positions(const Json& fields) {
    const Json* kind = fields.find("rope_type");
    if (!kind) kind = fields.find("type");
    return kind && kind->is_string() ? kind->string() : "";
}

}  // namespace

std::string setting_text(const Json& value) {
    if (value.is_string()) return value.string();
    if (!value.is_array()) return value.text();
    std::string list;
    for (const Json& item : value.array()) list += (list.empty() ? "" : ",") + setting_text(item);
    return list;
}

CheckpointConfig::CheckpointConfig(std::string path, Json config)
    : path_(std::move(path)), config_(std::move(config)) {
    spread_positions();
    fill_in();
}

bool CheckpointConfig::says(const std::string& field) const { return is_there(find(field)); }

std::optional<std::string> CheckpointConfig::value_of(const std::string& setting) const {
    const Json* value = find(setting);
    if (is_there(value)) return setting_text(*value);
    if (value && is_among(kOffByNull, setting)) return "0";
    return std::nullopt;
}

void CheckpointConfig::verify(const std::string& field, std::span<const std::string> values,
                              const std::string& model) const {
    const Json* value = find(field);
    if (!is_there(value)) return;
    if (is_among(values, setting_text(*value))) return;
    std::string right;
    for (const std::string& text : values) right += (right.empty() ? "" : " and ") + text;
    throw UserError("'{}' has {} = {}, but {} is right for {} alone",
                    {path_, field, value->text(), model, right});
}

void CheckpointConfig::verify_settings_of_positions(
    const std::vector<std::string>& settings) const {
    for (const auto& [field, place, is_layers] : of_models_) {
        const std::string name = kOfPositionsAlone + field + (is_layers ? "." : "");
        const bool is_read =
            std::any_of(settings.begin(), settings.end(), [&](const std::string& setting) {
                return is_layers ? setting.starts_with(name) : setting == name;
            });
        if (is_read) continue;
        if (!is_layers)
            throw UserError("'{}': {} has '{}', which no model has here", {path_, place, field});
        throw UserError(
            "'{}': {} differ from layer to layer ('{}'), and the model has no setting such as "
            "{}rope_theta",
            {path_, place, field, name});
    }
}

std::vector<std::pair<std::string, std::string>> CheckpointConfig::unread(
    const std::vector<std::string>& settings) const {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const auto& [field, value] : config_.object()) {
        const bool has_effect = is_there(&value) && !is_among(kWithoutEffect, field);
        if (!has_effect || is_among(settings, field) || is_of_positions(field, value)) continue;
        fields.emplace_back(field, setting_text(value));
    }
    return fields;
}

/// Of both fields the first counts that is not empty, the older one before the newer.
void CheckpointConfig::spread_positions() {
    for (const char* name : {"rope_scaling", "rope_parameters"}) {
        const Json* found = find(name);
        if (!is_there(found)) continue;
        if (!found->is_object())
            throw UserError("'{}': {} should be an object, but is of kind {}",
                            {path_, name, found->kind()});
        if (found->object().empty()) continue;
        const Json fields = *found;
        verify_positions(name, fields);
        spread(name, fields);
        return complete_positions(name, fields);
    }
}

/// Layers with positions of their own have an object each.
void CheckpointConfig::spread(const std::string& name, const Json& fields) {
    for (const auto& [field, value] : fields.object()) {
        const std::string own = own_name(field);
        if (value.is_object() || !is_among(kOfPositions, own)) {
            of_models_.push_back({field, name, value.is_object()});
            if (value.is_object()) verify_positions(name + "." + field, value);
            set_of_models(kOfPositionsAlone + field, value);
        } else if (!value.is_null()) config_.set(own, value);
    }
}

void CheckpointConfig::set_of_models(const std::string& name, const Json& value) {
    if (!value.is_object()) config_.set(name, value);
    else
        for (const auto& [field, inner] : value.object())
            config_.set(name + "." + own_name(field), inner);
}

void CheckpointConfig::verify_positions(const std::string& name, const Json& fields) const {
    const std::string kind = kind_of_positions(fields);
    for (const Needed& needed : kNeeded) {
        if (kind != needed.kind) continue;
        const Json* value = fields.find(needed.field);
        const bool follows = kind == "yarn" && value && value->is_null();  // from both lengths
        if (!follows && !is_there(value))
            throw UserError("'{}': {} of the kind {} lacks '{}'",
                            {path_, name, kind, needed.field});
    }
}

/// The original length is by default the model's, and the factor of YaRN the ratio of both.
void CheckpointConfig::complete_positions(const std::string& name, const Json& fields) {
    const std::string kind = kind_of_positions(fields);
    if (kind != "yarn" && kind != "llama3") return;
    const auto need = [&](const char* field, const char* lacking) {
        const Json* value = find(field);
        if (value && value->is_number() && value->number() > 0) return value->number();
        throw UserError("'{}': {} of the kind {} lacks '{}', and {} is no number to take for it",
                        {path_, name, kind, lacking, field});
    };
    if (!says(kOriginalLength)) {
        need(kLength, kOriginalLength);
        config_.set(kOriginalLength, Json(*find(kLength)));
    }
    if (!is_there(fields.find("factor")))
        config_.set("factor", need(kLength, "factor") / need(kOriginalLength, "factor"));
}

void CheckpointConfig::fill_in() {
    const Json* type = find("model_type");
    const std::string model = type && type->is_string() ? type->string() : "";
    const Json* labels = find("id2label");
    if (!find("num_labels"))  // two, where neither their number nor their names are said
        config_.set("num_labels", labels && labels->is_object()
                                      ? static_cast<std::int64_t>(labels->object().size())
                                      : std::int64_t{2});
    for (const Lacking& lacking : kLacking)
        if (model == lacking.model && !find(lacking.field))
            config_.set(lacking.field, lacking.value);
    // An id from the end, as PyTorch's embedding takes it.
    const Json *padding = find(kPadding), *vocabulary = find("vocab_size");
    if (padding && padding->is_number() && padding->number() < 0 && vocabulary &&
        vocabulary->is_number())
        config_.set(kPadding, static_cast<std::int64_t>(vocabulary->number() + padding->number()));
    // As many heads of keys as of queries.
    const bool keys_are_null = find(kKeyHeads) && !says(kKeyHeads);
    if (keys_are_null || (is_among(kWithAsManyKeys, model) && !find(kKeyHeads)))
        config_.set(kKeyHeads, says(kHeads) ? Json(*find(kHeads)) : Json(32));
    if (model == "gemma3_text") name_layers_of_gemma3();
    // Files of T5 1.1 say by their own head that what it reads is not scaled.
    const Json* ties = find("tie_word_embeddings");
    if (model == "t5" && !says(kScalesOutputs))
        config_.set(kScalesOutputs, !ties || ties->text() != "false");
}

/// Older files have the positions of the layers that see all tokens as other models have theirs.
void CheckpointConfig::name_layers_of_gemma3() {
    const std::string full = kOfPositionsAlone + "full_attention.";
    const std::string local = kOfPositionsAlone + "sliding_attention.rope_theta";
    for (const char* field : {"rope_theta", "rope_type", "factor"})
        if (says(field) && !says(full + field)) config_.set(full + field, Json(*find(field)));
    if (says("rope_local_base_freq") && !says(local))
        config_.set(local, Json(*find("rope_local_base_freq")));
}

}  // namespace fovea::runtime
