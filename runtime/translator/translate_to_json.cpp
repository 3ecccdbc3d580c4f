// One sentence, greedy, and one pass of the program `attention` over it.
#include "translate_to_json.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "../error.h"
#include "../files/printable.h"

namespace fovea::runtime {

namespace {

Json words_json(const std::vector<std::string>& words) {
    return Json::Array(words.begin(), words.end());
}

const char* axis_name(MapAxis axis) { return axis == MapAxis::source ? "source" : "target"; }

Json map_json(const AttentionMap& map) {
    constexpr double kPlaces = 1e4;
    Json::Array weights;
    for (const float weight : map.weights)
        weights.emplace_back(std::round(double(weight) * kPlaces) / kPlaces);
    Json json;
    json.set("name", map.name);
    json.set("heads", map.heads);
    json.set("queries", map.queries);
    json.set("keys", map.keys);
    json.set("query_axis", axis_name(map.query_axis));
    json.set("key_axis", axis_name(map.key_axis));
    json.set("weights", std::move(weights));
    return json;
}

bool has_attention(const Model& model) {
    return std::any_of(model.programs.begin(), model.programs.end(),
                       [](const Program& program) { return program.name == "attention"; });
}

}  // namespace

Json translate_to_json(SentenceTranslator& translator, const std::string& sentence) {
    const Words words = translator.source_tokenizer().tokens(sentence);
    const Translation best = translator.translate({&words, 1}).front().front();
    Json json;
    json.set("text", printable(translator.target_tokenizer().text(best.words)));
    if (words.empty() || !has_attention(translator.model())) return json;
    const MapTokens tokens = translator.map_tokens(words, best);
    json.set("source", words_json(tokens.source));
    json.set("read", words_json(tokens.read));
    json.set("produced", words_json(tokens.produced));
    Json::Array maps;
    for (const AttentionMap& map : translator.attention(words, best)) maps.push_back(map_json(map));
    json.set("maps", std::move(maps));
    return json;
}

const char* translate_for_page(const Model& model, const char* weights, const char* sentence) {
    static std::unique_ptr<SentenceTranslator> translator;
    static std::string answer;
    Json json;
    try {
        if (!translator)
            translator =
                std::make_unique<SentenceTranslator>(weights, model, BeamSettings{.steps = 0});
        json = translate_to_json(*translator, sentence);
    } catch (const std::exception& error) {
        json = Json();
        json.set("error", error.what());
    }
    answer = json.text();
    return answer.c_str();
}

}  // namespace fovea::runtime
