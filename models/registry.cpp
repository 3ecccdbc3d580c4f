// Adding a model: a file beside this one, and a line in `make_entries`.
#include "models/registry.h"

#include <vector>

#include "models/additive_attention.h"
#include "models/attention_is_all_you_need.h"
#include "models/dot_product_attention.h"
#include "models/masked_softmax.h"
#include "models/seq2seq_attention.h"
#include "models/today/bert.h"
#include "models/today/gemma2.h"
#include "models/today/gemma3.h"
#include "models/today/gpt2.h"
#include "models/today/llama.h"
#include "models/today/mistral.h"
#include "models/today/olmo2.h"
#include "models/today/phi3.h"
#include "models/today/qwen2.h"
#include "models/today/qwen3.h"
#include "models/today/t5.h"
#include "models/today/vit.h"
#include "models/transformer.h"

namespace fovea::models {

namespace {

static_assert(well_formed<[](Scope s) { masked_softmax(s, {}); }>);
static_assert(well_formed<[](Scope s) { dot_product_attention(s, {}); }>);
static_assert(well_formed<[](Scope s) { additive_attention(s, {}); }>);
static_assert(well_formed<[](Scope s) { multi_head_attention(s, {}); }>);
static_assert(well_formed<[](Scope s) { positional_encoding(s, {}); }>);
static_assert(well_formed<[](Scope s) { add_norm(s, {}); }>);
static_assert(well_formed<[](Scope s) { position_wise_ffn(s, {}); }>);
static_assert(well_formed<[](Scope s) { encoder_block(s, {}); }>);
static_assert(well_formed<[](Scope s) { decoder_block(s, {}); }>);
static_assert(well_formed<[](Scope s) { transformer_encoder(s, {}); }>);
static_assert(well_formed<[](Scope s) { transformer_decoder(s, {}); }>);
static_assert(well_formed<[](Scope s) { transformer(s, {}); }>);
static_assert(well_formed<[](Scope s) { seq2seq_attention(s, {}); }>);
static_assert(well_formed<[](Scope s) { attention_is_all_you_need(s, {}); }>);
static_assert(well_formed<[](Scope s) { attention_is_all_you_need_evaluate(s, {}); }>);
static_assert(well_formed<[](Scope s) { llama(s, {.num_hidden_layers = 2}); }>);
static_assert(well_formed<[](Scope s) { mistral(s, {.num_hidden_layers = 2}); }>);
static_assert(
    well_formed<[](Scope s) { qwen2(s, {.num_hidden_layers = 2, .tie_word_embeddings = true}); }>);
static_assert(
    well_formed<[](Scope s) { qwen3(s, {.num_hidden_layers = 2, .tie_word_embeddings = true}); }>);
static_assert(well_formed<[](Scope s) { gemma2(s, {.decoder = {.num_hidden_layers = 2}}); }>);
static_assert(
    well_formed<[](Scope s) { gemma3(s, {.gemma = {.decoder = {.num_hidden_layers = 2}}}); }>);
static_assert(well_formed<[](Scope s) { phi3(s, {.decoder = {.num_hidden_layers = 2}}); }>);
static_assert(well_formed<[](Scope s) { olmo2(s, {.decoder = {.num_hidden_layers = 2}}); }>);
static_assert(well_formed<[](Scope s) { gpt2(s, {.n_layer = 2}); }>);
static_assert(well_formed<[](Scope s) { bert(s, {.num_hidden_layers = 2}); }>);
static_assert(well_formed<[](Scope s) { vit(s, {.num_hidden_layers = 2}); }>);
static_assert(well_formed<[](Scope s) { t5(s, {.num_layers = 2}); }>);

/// The entry of `models/<name>.h`. `small` are the settings of verification; of the function's
/// settings those in `only` are offered, empty: all.
template <class Settings, void (*Function)(Scope, const Settings&)>
ModelEntry entry(const std::string& name, SettingValues small,
                 const std::vector<std::string>& only = {}) {
    ModelEntry result = entry_of<Function>(name, "models/" + name + ".h", only);
    result.small_settings = std::move(small);
    return result;
}

const SettingValues kSmallBlock = {{"hidden", "24"}, {"ffn", "40"}, {"heads", "3"}};
const SettingValues kSmallStack = {
    {"hidden", "24"}, {"ffn", "40"}, {"heads", "3"}, {"layers", "1"}};

ModelEntry transformer_entry() {
    ModelEntry result = entry<TransformerSettings, transformer>(
        "transformer",
        {{"hidden", "24"}, {"ffn", "40"}, {"heads", "3"}, {"dropout", "0.1"}, {"bias", "true"}},
        {"src_vocab", "tgt_vocab", "hidden", "ffn", "heads", "layers", "dropout", "bias"});
    result.driver = Driver::translator;
    return result;
}

ModelEntry seq2seq_entry() {
    ModelEntry result = entry<Seq2SeqSettings, seq2seq_attention>(
        "seq2seq_attention", {{"embed", "12"}, {"hidden", "20"}, {"dropout", "0.1"}});
    result.driver = Driver::translator;
    return result;
}

ModelEntry paper_entry() {
    ModelEntry result = entry<PaperSettings, attention_is_all_you_need>("attention_is_all_you_need",
                                                                        {{"d_model", "24"},
                                                                         {"d_inner", "40"},
                                                                         {"heads", "3"},
                                                                         {"d_k", "8"},
                                                                         {"d_v", "6"},
                                                                         {"layers", "1"}});
    result.evaluation = builder_of<attention_is_all_you_need_evaluate>();
    result.driver = Driver::translator;
    return result;
}

/// A model of `models/today`; of the function's settings those in `only` are offered, empty: all.
template <auto Function>
ModelEntry entry_of_today(const std::string& name, SettingValues small,
                          const std::vector<std::string>& only = {}) {
    ModelEntry result = entry_of<Function>(name, "models/today/" + name + ".h", only);
    result.small_settings = std::move(small);
    return result;
}

/// Rotary positions of all layers, of the kinds that are known.
const std::vector<std::string> kRotary = {
    "rope_theta",       "rope_type", "factor",    "low_freq_factor",
    "high_freq_factor", "beta_fast", "beta_slow", "original_max_position_embeddings",
    "attention_factor"};

/// A decoder, with the settings that all have, those of positions and those of `own`.
template <auto Function>
ModelEntry decoder_entry(const std::string& name, const std::vector<std::string>& own,
                         const SettingValues& small,
                         const std::vector<std::string>& positions = kRotary) {
    std::vector<std::string> offered = {
        "vocab_size",   "hidden_size",         "intermediate_size", "num_attention_heads",
        "head_dim",     "num_key_value_heads", "num_hidden_layers", "rms_norm_eps",
        "pad_token_id", "tie_word_embeddings"};
    offered.insert(offered.end(), positions.begin(), positions.end());
    offered.insert(offered.end(), own.begin(), own.end());
    SettingValues all = {{"vocab_size", "29"},         {"hidden_size", "24"},
                         {"intermediate_size", "40"},  {"num_attention_heads", "4"},
                         {"num_key_value_heads", "2"}, {"num_hidden_layers", "1"}};
    all.insert(all.end(), small.begin(), small.end());
    return entry_of_today<Function>(name, std::move(all), offered);
}

/// The same with what its checkpoints have beside settings: fields that have these values, and a
/// `model_type`, empty: its name.
ModelEntry with_checkpoint(ModelEntry entry, std::vector<CheckpointField> fixed,
                           const std::string& model_type = "") {
    entry.checkpoint.fixed = std::move(fixed);
    entry.checkpoint.fixed.push_back(
        {"model_type", {model_type.empty() ? entry.name : model_type}});
    return entry;
}

const CheckpointField kNoBias = {"attention_bias", {"false"}}, kSilu = {"hidden_act", {"silu"}},
                      kWholeHeads = {"partial_rotary_factor", {"1.0", "1"}};

const SettingValues kSmallGemma2 = {
    {"num_hidden_layers", "1"},      {"head_dim", "6"},
    {"query_pre_attn_scalar", "6"},  {"sliding_window", "5"},
    {"attn_logit_softcapping", "5"}, {"final_logit_softcapping", "3"}};
const SettingValues kSmallGemma3 = {{"num_hidden_layers", "2"},
                                    {"sliding_window_pattern", "2"},
                                    {"head_dim", "6"},
                                    {"query_pre_attn_scalar", "6"},
                                    {"sliding_window", "5"},
                                    {"rope_parameters.full_attention.rope_type", "linear"},
                                    {"rope_parameters.full_attention.factor", "8"}};
const SettingValues kSmallGPT2 = {{"vocab_size", "29"}, {"n_positions", "150"}, {"n_embd", "24"},
                                  {"n_head", "3"},      {"n_inner", "40"},      {"n_layer", "1"}};
const SettingValues kSmallBert = {{"vocab_size", "29"},         {"hidden_size", "24"},
                                  {"intermediate_size", "40"},  {"max_position_embeddings", "150"},
                                  {"num_attention_heads", "3"}, {"num_hidden_layers", "1"}};
const SettingValues kSmallViT = {{"hidden_size", "24"},     {"intermediate_size", "40"},
                                 {"num_labels", "5"},       {"image_size", "21"},
                                 {"patch_size", "5"},       {"num_attention_heads", "3"},
                                 {"num_hidden_layers", "1"}};
const SettingValues kSmallT5 = {{"vocab_size", "29"},
                                {"d_model", "24"},
                                {"d_ff", "40"},
                                {"d_kv", "6"},
                                {"num_heads", "3"},
                                {"num_layers", "1"},
                                {"relative_attention_num_buckets", "9"},
                                {"relative_attention_max_distance", "20"},
                                {"feed_forward_proj", "gated-gelu"}};

/// Its first checkpoints call the parameters of norms as TensorFlow does.
ModelEntry bert_entry() {
    ModelEntry result = with_checkpoint(entry_of_today<bert>("bert", kSmallBert),
                                        {{"hidden_act", {"gelu"}},
                                         {"position_embedding_type", {"absolute"}},
                                         {"is_decoder", {"false"}},
                                         {"add_cross_attention", {"false"}}});
    result.checkpoint.renamed = {{"LayerNorm.weight", "LayerNorm.gamma"},
                                 {"LayerNorm.bias", "LayerNorm.beta"}};
    return result;
}

ModelEntry vit_entry() {
    ModelEntry result =
        with_checkpoint(entry_of_today<vit>("vit", kSmallViT), {{"hidden_act", {"gelu"}}});
    result.checkpoint.renamed = {{"vit.layers", "vit.encoder.layer"},
                                 {"attention.q_proj", "attention.attention.query"},
                                 {"attention.k_proj", "attention.attention.key"},
                                 {"attention.v_proj", "attention.attention.value"},
                                 {"attention.o_proj", "attention.output.dense"},
                                 {"mlp.fc1", "intermediate.dense"},
                                 {"mlp.fc2", "output.dense"}};
    return result;
}

ModelEntry gemma3_entry() {
    const std::string full = "rope_parameters.full_attention.",
                      local = "rope_parameters.sliding_attention.";
    return with_checkpoint(
        decoder_entry<gemma3>(
            "gemma3",
            {"sliding_window", "query_pre_attn_scalar", "final_logit_softcapping",
             "sliding_window_pattern", "layer_types"},
            kSmallGemma3,
            {full + "rope_theta", full + "rope_type", full + "factor", local + "rope_theta"}),
        {kNoBias,
         kWholeHeads,
         {local + "rope_type", {"default"}},
         {"hidden_activation", {"gelu_pytorch_tanh"}},
         {"use_bidirectional_attention", {"false"}}},
        "gemma3_text");
}

std::vector<ModelEntry> make_entries() {
    return {
        entry<MaskedSoftmaxSettings, masked_softmax>("masked_softmax", {}),
        entry<DotProductAttentionSettings, dot_product_attention>("dot_product_attention", {}),
        entry<AdditiveAttentionSettings, additive_attention>("additive_attention", {}),
        entry<MultiHeadAttentionSettings, multi_head_attention>("multi_head_attention",
                                                                {{"query_size", "20"},
                                                                 {"key_size", "12"},
                                                                 {"value_size", "10"},
                                                                 {"hidden", "21"},
                                                                 {"heads", "3"},
                                                                 {"bias", "true"}}),
        entry<PositionalEncodingSettings, positional_encoding>("positional_encoding", {}),
        entry<AddNormSettings, add_norm>("add_norm", {}),
        entry<PositionWiseFFNSettings, position_wise_ffn>("position_wise_ffn", {}),
        entry<TransformerSettings, encoder_block>("encoder_block", kSmallBlock,
                                                  {"hidden", "ffn", "heads", "bias"}),
        entry<TransformerSettings, decoder_block>("decoder_block", kSmallBlock,
                                                  {"hidden", "ffn", "heads"}),
        entry<TransformerSettings, transformer_encoder>(
            "transformer_encoder", kSmallBlock,
            {"src_vocab", "hidden", "ffn", "heads", "layers", "bias", "norm_over", "src_len"}),
        entry<TransformerSettings, transformer_decoder>(
            "transformer_decoder", kSmallStack, {"tgt_vocab", "hidden", "ffn", "heads", "layers"}),
        transformer_entry(),
        seq2seq_entry(),
        paper_entry(),
        with_checkpoint(decoder_entry<llama>("llama", {},
                                             {{"rope_type", "llama3"},
                                              {"factor", "8"},
                                              {"original_max_position_embeddings", "32"}}),
                        {kSilu, kNoBias, kWholeHeads, {"mlp_bias", {"false"}}}),
        with_checkpoint(
            decoder_entry<mistral>("mistral", {"sliding_window"}, {{"sliding_window", "5"}}),
            {kSilu, kWholeHeads}),
        with_checkpoint(decoder_entry<qwen2>("qwen2", {}, {{"tie_word_embeddings", "true"}}),
                        {kSilu, kWholeHeads, {"use_sliding_window", {"false"}}}),
        with_checkpoint(decoder_entry<qwen3>("qwen3", {},
                                             {{"head_dim", "10"}, {"tie_word_embeddings", "true"}}),
                        {kSilu, kNoBias, kWholeHeads, {"use_sliding_window", {"false"}}}),
        with_checkpoint(decoder_entry<gemma2>(
                            "gemma2",
                            {"sliding_window", "query_pre_attn_scalar", "attn_logit_softcapping",
                             "final_logit_softcapping", "layer_types"},
                            kSmallGemma2),
                        {kNoBias, kWholeHeads, {"hidden_activation", {"gelu_pytorch_tanh"}}}),
        gemma3_entry(),
        with_checkpoint(
            decoder_entry<phi3>("phi3", {"sliding_window"},
                                {{"sliding_window", "5"}, {"partial_rotary_factor", "0.67"}},
                                {"rope_theta", "partial_rotary_factor"}),
            {kSilu, {"rope_type", {"default"}}}),
        with_checkpoint(decoder_entry<olmo2>("olmo2", {}, {}), {kSilu, kNoBias, kWholeHeads}),
        with_checkpoint(entry_of_today<gpt2>("gpt2", kSmallGPT2),
                        {{"activation_function", {"gelu_new", "gelu_pytorch_tanh"}},
                         {"scale_attn_weights", {"true"}},
                         {"scale_attn_by_inverse_layer_idx", {"false"}},
                         {"add_cross_attention", {"false"}},
                         {"tie_word_embeddings", {"true"}}}),
        bert_entry(),
        vit_entry(),
        with_checkpoint(entry_of_today<t5>("t5", kSmallT5), {}),
    };
}

}  // namespace

std::span<const ModelEntry> built_in_models() {
    static const std::vector<ModelEntry> entries = make_entries();
    return entries;
}

const ModelEntry* find_model(std::string_view name) {
    for (const ModelEntry& entry : built_in_models())
        if (entry.name == name) return &entry;
    return nullptr;
}

}  // namespace fovea::models
