// Counting and numbering words.
#include "vocabulary.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "../error.h"
#include "../files/json.h"

namespace fovea::runtime {

namespace {

constexpr std::array<std::string_view, 4> kReserved = {"<unk>", "<pad>", "<bos>", "<eos>"};

bool is_reserved(std::string_view word) {
    return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

}  // namespace

Vocabulary::Vocabulary() : words_(kReserved.begin(), kReserved.end()) {}

void Vocabulary::add(const std::string& word) {
    ids_.emplace(word, static_cast<std::int32_t>(words_.size()));
    words_.push_back(word);
}

Vocabulary Vocabulary::count(const std::vector<std::vector<std::string>>& sentences,
                             std::int64_t min_freq) {
    std::map<std::string, std::int64_t> counts;
    for (const auto& sentence : sentences) {
        for (const std::string& word : sentence) ++counts[word];
    }
    std::vector<std::pair<std::string, std::int64_t>> words(counts.begin(), counts.end());
    std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    Vocabulary vocabulary;
    for (const auto& [word, frequency] : words) {
        if (frequency >= min_freq && !is_reserved(word)) vocabulary.add(word);
    }
    return vocabulary;
}

Vocabulary Vocabulary::from_json(const std::string& json, const std::string& origin) {
    const Json list = [&] {
        try {
            return parse_json(json);
        } catch (const UserError& error) {
            throw UserError(origin + ": the vocabulary is not JSON: " + error.what());
        }
    }();
    return from_list(list, origin);
}

Vocabulary Vocabulary::from_list(const Json& list, const std::string& origin) {
    const auto is_word = [](const Json& item) { return item.is_string(); };
    if (!list.is_array() || !std::all_of(list.array().begin(), list.array().end(), is_word)) {
        throw UserError(origin + ": the vocabulary is not a list of words");
    }
    Vocabulary vocabulary;
    for (std::size_t i = 0; i < list.array().size(); ++i) {
        const std::string& word = list.array()[i].string();
        if (i < kReserved.size() ? word != kReserved[i]
                                 : is_reserved(word) || vocabulary.ids_.contains(word)) {
            throw UserError(origin + ": word " + std::to_string(i) + " of the vocabulary is '" +
                            word + "', but the first are " +
                            "<unk> <pad> <bos> <eos> and none stands twice");
        }
        if (i >= kReserved.size()) vocabulary.add(word);
    }
    if (list.array().size() < kReserved.size()) {
        throw UserError(origin + ": the vocabulary lacks the words <unk> <pad> <bos> <eos>");
    }
    return vocabulary;
}

std::string Vocabulary::to_json() const {
    return Json(Json::Array(words_.begin(), words_.end())).text();
}

std::int32_t Vocabulary::id(const std::string& word) const {
    const auto found = ids_.find(word);
    return found == ids_.end() ? kUnknown : found->second;
}

std::vector<std::int32_t> Vocabulary::ids(const std::vector<std::string>& words) const {
    std::vector<std::int32_t> ids;
    ids.reserve(words.size() + 1);
    for (const std::string& word : words) ids.push_back(id(word));
    return ids;
}

std::vector<std::string> Vocabulary::words(const std::vector<std::int32_t>& ids) const {
    std::vector<std::string> words;
    words.reserve(ids.size());
    for (const std::int32_t id : ids) words.push_back(word(id));
    return words;
}

}  // namespace fovea::runtime
