// The built-in models by the names that users rely on: inputs, outputs, settings, parameters; the
// shapes that the chapters print; mistakes in settings.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/base/error.h"
#include "codegen/reference/interpreter.h"
#include "models/registry.h"
#include "tests/models/run_everywhere.h"

using namespace fovea;

namespace {

using Names = std::set<std::string>;

Graph build(const std::string& model, const SettingValues& values = {}) {
    const ModelEntry* entry = models::find_model(model);
    REQUIRE_MESSAGE(entry, model);
    return entry->build(values);
}

Names names_of(const Graph& graph, Op op) {
    Names names;
    for (const Node& node : graph.nodes)
        if (node.op == op)
            names.insert(op == Op::parameter ? graph.path(node.scope) : std::string(node.name));
    return names;
}

Names settings_of(const std::string& model) {
    Names names;
    for (const SettingSpec& spec : models::find_model(model)->settings) names.insert(spec.name);
    return names;
}

struct Row {
    Names inputs, outputs, settings, parameters;
};

Names under(const std::string& prefix, const std::vector<std::string>& names) {
    Names result;
    for (const std::string& name : names) result.insert(prefix + name);
    return result;
}

Names both(Names a, const Names& b) {
    a.insert(b.begin(), b.end());
    return a;
}

const std::map<std::string, Row> kRows = {
    {"masked_softmax", {{"scores", "valid_lens"}, {"weights"}, {"lens_rank"}, {}}},
    {"dot_product_attention",
     {{"queries", "keys", "values", "valid_lens"}, {"output", "weights"}, {"lens_rank"}, {}}},
    {"additive_attention",
     {{"queries", "keys", "values", "valid_lens"},
      {"output", "weights"},
      {"query_size", "key_size", "value_size", "hidden"},
      {"W_q.weight", "W_k.weight", "w_v.weight"}}},
    {"multi_head_attention",
     {{"queries", "keys", "values", "valid_lens"},
      {"output", "weights"},
      {"query_size", "key_size", "value_size", "hidden", "heads", "bias"},
      {"W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"}}},
    {"positional_encoding", {{"x"}, {"output"}, {"hidden"}, {}}},
    {"add_norm", {{"x", "y"}, {"output"}, {"hidden"}, {"ln.weight", "ln.bias"}}},
    {"position_wise_ffn",
     {{"x"},
      {"output"},
      {"input", "ffn", "output"},
      {"dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias"}}},
    {"encoder_block",
     {{"x", "valid_lens"},
      {"output"},
      {"hidden", "ffn", "heads", "bias"},
      both(under("attention.", {"W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight"}),
           {"addnorm1.ln.weight", "addnorm1.ln.bias", "ffn.dense1.weight", "ffn.dense1.bias",
            "ffn.dense2.weight", "ffn.dense2.bias", "addnorm2.ln.weight", "addnorm2.ln.bias"})}},
};

}  // namespace

TEST_CASE("names of inputs, outputs, settings and parameters") {
    for (const auto& [model, row] : kRows) {
        CAPTURE(model);
        Graph graph = build(model);
        CHECK(names_of(graph, Op::input) == row.inputs);
        CHECK(names_of(graph, Op::output) == row.outputs);
        CHECK(names_of(graph, Op::parameter) == row.parameters);
        CHECK(settings_of(model) == row.settings);
    }
    CHECK(settings_of("decoder_block") == Names{"hidden", "ffn", "heads"});
    CHECK(names_of(build("decoder_block"), Op::input) == Names{"x", "memory", "memory_lens"});
    Graph decoder = build("transformer_decoder", {{"layers", "1"}});
    CHECK(names_of(decoder, Op::input) == Names{"tgt", "memory", "memory_lens"});
    CHECK(names_of(decoder, Op::output) == Names{"logits"});
    CHECK(names_of(decoder, Op::parameter).contains("blks.block0.attention2.W_o.weight"));
}

TEST_CASE("the paper's model: names, and tensors that are tied") {
    SettingValues one_layer = {{"layers", "1"}};
    Graph graph = build("attention_is_all_you_need", one_layer);
    CHECK(names_of(graph, Op::input) == Names{"src", "tgt", "labels"});
    CHECK(names_of(graph, Op::output) == Names{"logits", "loss"});
    Names parameters = names_of(graph, Op::parameter);
    for (const char* name :
         {"encoder.src_word_emb.weight", "encoder.layer_norm.bias",
          "encoder.layer_stack.0.slf_attn.w_qs.weight", "encoder.layer_stack.0.pos_ffn.w_1.bias",
          "decoder.trg_word_emb.weight", "decoder.layer_stack.0.enc_attn.fc.weight",
          "decoder.layer_stack.0.enc_attn.layer_norm.weight"})
        CHECK(parameters.contains(name));
    auto ties = [&](const char* projection, const char* embeddings) {
        SettingValues values = one_layer;
        values.push_back({"share_projection", projection});
        values.push_back({"share_embeddings", embeddings});
        Graph tied = build("attention_is_all_you_need", values);
        std::map<std::string, std::string> result;
        for (const ParameterAlias& alias : tied.aliases)
            result[tied.path(alias.name)] = tied.path(alias.parameter);
        return result;
    };
    const std::string source = "encoder.src_word_emb.weight",
                      target = "decoder.trg_word_emb.weight", logits = "trg_word_prj.weight";
    using Ties = std::map<std::string, std::string>;
    CHECK(ties("false", "false") == Ties{});
    CHECK(ties("true", "false") == Ties{{logits, target}});
    CHECK(ties("false", "true") == Ties{{target, source}});
    CHECK(ties("true", "true") == Ties{{logits, source}, {target, source}});
}

TEST_CASE("models of today: names, and what settings choose") {
    const Names of_text = {"ids", "labels", "lens"}, with_loss = {"logits", "loss"};
    const std::map<std::string, std::pair<Names, Names>> ports = {
        {"gemma2", {of_text, with_loss}},
        {"gemma3", {of_text, with_loss}},
        {"phi3", {of_text, with_loss}},
        {"olmo2", {of_text, with_loss}},
        {"gpt2", {of_text, with_loss}},
        {"bert", {{"ids", "segments", "lens"}, {"output", "pooled"}}},
        {"vit", {{"pixels", "labels"}, with_loss}},
        {"t5", {{"src", "src_lens", "tgt", "labels", "tgt_lens"}, with_loss}}};
    for (const auto& [model, names] : ports) {
        CAPTURE(model);
        const Graph graph = build(model, models::find_model(model)->small_settings);
        CHECK(names_of(graph, Op::input) == names.first);
        CHECK(names_of(graph, Op::output) == names.second);
    }
    const auto parameters = [&](const std::string& model, const char* name, const char* value) {
        SettingValues values = models::find_model(model)->small_settings;
        values.push_back({name, value});
        return names_of(build(model, values), Op::parameter);
    };
    const std::string ffn = "encoder.block.0.layer.1.DenseReluDense.wi";
    CHECK(parameters("t5", "feed_forward_proj", "relu").contains(ffn + ".weight"));
    CHECK(parameters("t5", "feed_forward_proj", "gated-gelu").contains(ffn + "_1.weight"));
    CHECK(parameters("t5", "tie_word_embeddings", "false").contains("lm_head.weight"));
    CHECK(!parameters("t5", "tie_word_embeddings", "true").contains("lm_head.weight"));
    CHECK(parameters("t5", "num_decoder_layers", "2")
              .contains("decoder.block.1.layer.1.EncDecAttention.q.weight"));
    CHECK(!parameters("vit", "qkv_bias", "false").contains("vit.layers.0.attention.q_proj.bias"));
    const auto windows = [](const char* model, const char* setting, const char* value) {
        int count = 0;
        const Graph graph = build(model, {{"num_hidden_layers", "3"}, {setting, value}});
        for (const AttentionAttributes& attention : graph.attentions)
            count += attention.window.before < KeyWindow::kUnlimited;
        return count;
    };
    CHECK(windows("gemma2", "layer_types", "") == 2);
    CHECK(windows("gemma2", "layer_types", "full_attention,sliding_attention,full_attention") == 1);
    CHECK(windows("gemma3", "layer_types", "") == 3);
    CHECK(windows("gemma3", "sliding_window_pattern", "3") == 2);
    CHECK(windows("gemma3", "sliding_window_pattern", "1") == 0);
}

TEST_CASE("shapes that the chapters print") {
    auto shape_of = [](const std::string& model, const SettingValues& settings,
                       const std::map<std::string, std::vector<std::int64_t>>& inputs,
                       const char* output = "output") {
        Interpreter interpreter(build(model, settings));
        for (const Node& node : interpreter.graph().nodes) {
            bool parameter = node.op == Op::parameter;
            if (!parameter && node.op != Op::input) continue;
            std::string name =
                parameter ? interpreter.graph().path(node.scope) : std::string(node.name);
            Array value;
            if (!parameter) value.shape = inputs.at(name);
            else
                for (const Dim& dim : node.shape) value.shape.push_back(dim.value());
            value.values.assign(std::size_t(value.size()), 1);
            interpreter.set(name, value);
        }
        return interpreter.output(output).shape;
    };
    using Extents = std::vector<std::int64_t>;
    SettingValues heads = {{"query_size", "20"},
                           {"key_size", "12"},
                           {"value_size", "10"},
                           {"hidden", "14"},
                           {"heads", "2"}};
    CHECK(shape_of("multi_head_attention", heads,
                   {{"queries", {2, 6, 20}},
                    {"keys", {2, 8, 12}},
                    {"values", {2, 8, 10}},
                    {"valid_lens", {2}}}) == Extents{2, 6, 14});
    SettingValues block = {{"hidden", "24"}, {"ffn", "48"}, {"heads", "8"}};
    CHECK(shape_of("encoder_block", block, {{"x", {2, 100, 24}}, {"valid_lens", {2}}}) ==
          Extents{2, 100, 24});
    CHECK(shape_of("decoder_block", block,
                   {{"x", {2, 100, 24}}, {"memory", {2, 100, 24}}, {"memory_lens", {2}}}) ==
          Extents{2, 100, 24});
    SettingValues decoder = {{"hidden", "16"}, {"ffn", "16"}, {"heads", "2"}, {"tgt_vocab", "10"}};
    CHECK(shape_of("transformer_decoder", decoder,
                   {{"tgt", {4, 7}}, {"memory", {4, 7, 16}}, {"memory_lens", {4}}},
                   "logits") == Extents{4, 7, 10});
}

TEST_CASE("settings that make no model say why") {
    auto message = [](const std::string& model, const SettingValues& values) -> std::string {
        try {
            build(model, values);
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    };
    CHECK(message("masked_softmax", {{"lens_rank", "3"}})
              .find("lens_rank is 1 (a length for every sequence) or 2 (one for every query), not "
                    "3") != std::string::npos);
    SettingValues shared = {{"share_embeddings", "true"}, {"src_vocab", "10"}, {"tgt_vocab", "12"}};
    CHECK(message("attention_is_all_you_need", shared)
              .find("share_embeddings takes one vocabulary for both languages, not src_vocab=10 "
                    "and tgt_vocab=12") != std::string::npos);
    CHECK(message("multi_head_attention", {{"heads", "3"}}).find("3 does not divide") !=
          std::string::npos);
    CHECK(message("gemma2", {{"num_hidden_layers", "3"}, {"layer_types", "full_attention"}})
              .find("layer_types has 1 layers, num_hidden_layers is 3") != std::string::npos);
    for (const char* share : {"0", "1.5", "1e300"})
        CHECK(message("phi3", {{"partial_rotary_factor", share}})
                  .find("should turn from 2 to 96 features of a head") != std::string::npos);
    CHECK(
        message("phi3", {{"partial_rotary_factor", "0.1"}}).find("features are turned in pairs") !=
        std::string::npos);
    CHECK(message("gemma3", {{"sliding_window_pattern", "0"}})
              .find("sliding_window_pattern is a number of layers, at least 1") !=
          std::string::npos);
    for (const char* decoder : {"llama", "gemma2"})
        CHECK(message(decoder, {{"rms_norm_eps", "-1e-6"}}).find("eps must be 0 or above") !=
              std::string::npos);
    for (const char* root : {"0", "-4"})
        CHECK(message("gemma2", {{"query_pre_attn_scalar", root}})
                  .find("query_pre_attn_scalar must be above 0") != std::string::npos);
    for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"})
        CHECK(message("gemma2", {{cap, "-1"}}).find("must be above 0, or 0 for none") !=
              std::string::npos);
    for (const auto& [buckets, distance] : {std::pair{"3", "20"}, {"32", "16"}})
        CHECK(message("t5", {{"relative_attention_num_buckets", buckets},
                             {"relative_attention_max_distance", distance}})
                  .find("must be at least 4 and less than twice relative_attention_max_distance, "
                        "got " +
                        std::string(buckets) + " and " + distance) != std::string::npos);
}

TEST_CASE("a generated program knows tied tensors and rows that start as zeros") {
    Graph graph;
    Scope s{&graph};
    Tensor ids = s.input("ids", {3}, i32);
    Tensor table = embedding_table(s / "words", 5, 4, {.padding = 2});
    (s / "logits").tie("weight", table);
    Tensor x = look_up(s / "words", table, ids, 2);
    s.output("y", linear_product(x, table, Location::here()));
    CompiledModel compiled = compile_model("tied", "", {}, {{.name = "forward", .graph = graph}});
    const runtime::Model& model =
        tool::load_generated(compiled.plan, tool::isa_of_this_machine(), tool::Keep::nowhere);
    REQUIRE(model.aliases.size() == 1);
    CHECK(model.aliases[0].name == "logits.weight");
    CHECK(model.aliases[0].parameter == "words.weight");
    runtime::Parameters parameters(model, {});
    parameters.initialize(1);
    for (int i = 0; i < 20; ++i) CHECK((parameters.values(0)[std::size_t(i)] == 0) == (i / 4 == 2));
}

TEST_CASE("a tie needs a parameter and a name of its own") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {3, 4});
    Tensor weight = s.parameter("weight", {4});
    CHECK_THROWS_WITH(s.tie("other", x), doctest::Contains("cannot tie other to what is no"));
    CHECK_THROWS_WITH((s.tie("weight", weight)),
                      doctest::Contains("cannot tie weight: a parameter has this name already"));
}

TEST_CASE("look-ups of the padding give no gradient, other uses of the table do") {
    for (bool tied : {false, true}) {
        Graph graph;
        Scope s{&graph};
        Tensor ids = s.input("ids", {3}, i32);
        Tensor table = embedding_table(s / "words", 4, 2, {.padding = 1});
        Tensor x = look_up(s / "words", table, ids, 1);
        s.output("y", tied ? linear_product(x, table, Location::here()) : x);
        Graph with = add_gradients(graph, {.from_loss = false, .of_inputs = false});
        Interpreter interpreter(with);
        interpreter.set("ids", {{3}, {0, 1, 3}});
        interpreter.set("words.weight", test::scattered({4, 2}));
        interpreter.set("y.grad", test::scattered({3, tied ? 4 : 2}));
        const Array& gradient = interpreter.output("words.weight.grad");
        for (int row = 0; row < 4; ++row) {
            bool moves = gradient.values[std::size_t(2 * row)] != 0;
            CHECK(moves == (tied || row == 0 || row == 3));
        }
    }
}
