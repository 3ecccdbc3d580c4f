// Of a model with a source, a prompt and steps give the logits of the model that reads both whole.
#include "codegen/decode/source_values.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fovea.h>

#include "codegen/decode/derive_decoding.h"
#include "codegen/decode/reads_padding.h"
#include "codegen/graph/scan_function.h"
#include "codegen/graph/verify_graph.h"
#include "codegen/optimize/select_mode.h"
#include "codegen/reference/interpreter.h"
#include "models/registry.h"
#include "tests/decode/random_weights.h"
#include "tests/decode/token_by_token.h"

using namespace fovea;

namespace {

constexpr std::int64_t kPairs = 2, kSourceLength = 6, kRoom = 30;

/// Behind the lengths 6 and 4, the sources are padding.
Array source_lens() { return {{kPairs}, {6, 4}}; }

Array words_of(std::int64_t first, std::int64_t count, int stream) {
    Array ids{{kPairs, count}, {}};
    for (std::int64_t text = 0; text < kPairs; ++text)
        for (std::int64_t i = first; i < first + count; ++i)
            ids.values.push_back(double((5 * i + 13 * text + i * i + 3 * stream) % 29));
    return ids;
}

using Kept = std::map<std::string, Array>;

/// A program on tokens from `first` on, and what programs before it have left.
class SourceRun {
  public:
    SourceRun(const Graph& graph, const test::RandomWeights& weights) : program_(graph) {
        weights.set(program_);
        program_.bind("steps", kRoom);
        program_.bind("src_len", kSourceLength);
        give("src", words_of(0, kSourceLength, 1));
        give("src_lens", source_lens());
    }
    void give(const std::string& name, const Array& value) {
        if (program_.has(name)) program_.set(name, value);
    }
    Array logits() { return program_.output("logits"); }
    Array logits_and(Kept& kept) {
        for (const auto& [name, value] : kept) program_.set(name, value);
        Kept made = program_.outputs();
        Array logits = made.at("logits");
        made.erase("logits");
        for (auto& [name, value] : made) kept[name] = std::move(value);
        return logits;
    }

  private:
    Interpreter program_;
};

void check_row_of(const Array& row, const Array& whole, std::int64_t position) {
    CAPTURE(position);
    const std::int64_t words = whole.shape[2], length = whole.shape[1];
    REQUIRE(row.shape == std::vector<std::int64_t>{kPairs, 1, words});
    double largest = 0, off = 0;
    for (double value : whole.values) largest = std::max(largest, std::abs(value));
    for (std::int64_t text = 0; text < kPairs; ++text)
        for (std::int64_t w = 0; w < words; ++w)
            off = std::max(
                off, std::abs(row.values[std::size_t(text * words + w)] -
                              whole.values[std::size_t((text * length + position) * words + w)]));
    CHECK(off <= 1e-12 * largest);
}

std::vector<std::string> states_of(const Graph& step) {
    std::vector<std::string> names;
    for (const Node& node : step.nodes)
        if (node.op == Op::input && node.state) names.emplace_back(node.name);
    std::ranges::sort(names);
    return names;
}

bool has_input(const Graph& graph, std::string_view name) {
    return std::ranges::any_of(
        graph.nodes, [&](const Node& node) { return node.op == Op::input && node.name == name; });
}

void check_decoding_of(const Graph& graph) {
    REQUIRE(why_not_decodable(graph).value_or("") == "");
    const test::RandomWeights weights(graph);
    const Decoding decoding = derive_decoding(graph);
    verify_graph(decoding.prefill);
    verify_graph(decoding.step);
    SourceRun all(graph, weights);
    for (const char* name : {"tgt", "labels"}) all.give(name, words_of(0, kRoom, 0));
    all.give("tgt_lens", {{kPairs}, {kRoom, kRoom}});
    const Array whole = all.logits();
    for (std::int64_t prompt : {1, 7}) {
        CAPTURE(prompt);
        Kept kept;
        SourceRun prefill(decoding.prefill, weights);
        prefill.give("tgt", words_of(0, prompt, 0));
        check_row_of(prefill.logits_and(kept), whole, prompt - 1);
        for (std::int64_t position = prompt; position < kRoom; ++position) {
            SourceRun step(decoding.step, weights);
            step.give("tgt", words_of(position, 1, 0));
            step.give("position", {{kPairs}, {double(position), double(position)}});
            check_row_of(step.logits_and(kept), whole, position);
        }
    }
    // Targets whose beginnings have different lengths take steps together.
    std::vector<Kept> each;
    test::Positions at = {3, 8};
    for (std::int64_t prompt : at) {
        SourceRun prefill(decoding.prefill, weights);
        prefill.give("tgt", words_of(0, prompt, 0));
        prefill.logits_and(each.emplace_back());
    }
    Kept kept = test::caches_of_each(each);
    for (; at[1] < kRoom; ++at[0], ++at[1]) {
        CAPTURE(at[0]);
        SourceRun step(decoding.step, weights);
        const double first = words_of(at[0], 1, 0).values[0],
                     second = words_of(at[1], 1, 0).values[1];
        step.give("tgt", {{kPairs, 1}, {first, second}});
        step.give("position", {{kPairs}, {double(at[0]), double(at[1])}});
        test::check_rows(step.logits_and(kept), whole, at);
    }
}

Graph t5_with(const SettingValues& more) {
    const ModelEntry& entry = *models::find_model("t5");
    SettingValues settings = entry.small_settings;
    for (const auto& [name, value] : more) {
        std::erase_if(settings, [&](const auto& setting) { return setting.first == name; });
        settings.emplace_back(name, value);
    }
    return entry.build(settings);
}

}  // namespace

TEST_CASE("t5 reads its source once, and then token by token") {
    for (const SettingValues& settings :
         {SettingValues{{"num_layers", "2"}, {"num_decoder_layers", "3"}},
          SettingValues{{"feed_forward_proj", "relu"}, {"tie_word_embeddings", "false"}}}) {
        const Graph graph = t5_with(settings);
        check_decoding_of(graph);
    }
    const Decoding decoding = derive_decoding(t5_with({}));
    const std::string block = "decoder.block.0.layer.";
    CHECK(states_of(decoding.step) == std::vector<std::string>{block + "0.SelfAttention.keys",
                                                               block + "0.SelfAttention.values",
                                                               block + "1.EncDecAttention.keys",
                                                               block + "1.EncDecAttention.values"});
    CHECK(has_input(decoding.step, "src_lens"));
    CHECK_FALSE(has_input(decoding.step, "src"));
    for (const Node& node : decoding.step.nodes)
        if (node.op == Op::parameter)
            CHECK_FALSE(decoding.step.path(node.scope).starts_with("encoder."));
}

TEST_CASE("translators read their source once, and then token by token") {
    struct Translator {
        std::string name;
        SettingValues more;
        bool reads_padding = false;
    };
    const std::vector<Translator> translators = {
        {"transformer", {{"layers", "2"}}},
        {"transformer", {{"src_len", "6"}, {"norm_over", "tokens_and_features"}}},
        {"attention_is_all_you_need", {{"scale", "emb"}}},
        {"attention_is_all_you_need", {{"scale", "prj"}, {"share_embeddings", "true"}}},
        {"seq2seq_attention", {{"layers", "1"}}, true},
        {"seq2seq_attention", {{"layers", "3"}}, true}};
    for (const Translator& translator : translators) {
        CAPTURE(translator.name);
        CAPTURE(translator.more);
        const ModelEntry& entry = *models::find_model(translator.name);
        SettingValues settings = entry.small_settings;
        for (const auto& [name, value] : translator.more) {
            std::erase_if(settings, [&](const auto& setting) { return setting.first == name; });
            settings.emplace_back(name, value);
        }
        for (const char* words : {"src_vocab", "tgt_vocab"}) settings.emplace_back(words, "29");
        const auto build = entry.evaluation ? entry.evaluation : entry.build;
        const Graph graph = select_mode(seal_scans(build(settings)), false);
        check_decoding_of(graph);
        CHECK(reads_padding(graph) == translator.reads_padding);
    }
}

TEST_CASE("masks, numbers of scores and sums of a source are kept") {
    Graph graph;
    Scope s{&graph};
    Tensor src = s.input("src", {"batch", "src_len"}, i32);
    Tensor tgt = s.input("tgt", {"batch", "tgt_len"}, i32);
    Tensor read = embedding(s / "read", src, 29, 8), x = embedding(s / "words", tgt, 29, 8);
    // Ids above 20 are hidden, wherever they stand; the score reads a number for each source.
    Tensor slope = mean(mean(mean(read, 2), 1), 0);
    const auto score = [&](Pair p) { return dot_product(p) + slope * cast(p.j, f32); };
    const Mask shown = allowed(unsqueeze(src <= 20, 1)).with(MaskedRows::zero);
    x = x + attention(x, read, read, score, shown);
    x = x + attention(x, x, x, dot_product, causal);
    x = x + unsqueeze(mean(read, 1), 1);
    s.output("logits", layer_norm(s / "norm", x));
    check_decoding_of(graph);
}
