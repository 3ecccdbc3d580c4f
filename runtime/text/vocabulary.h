// The words that a model knows, and their numbers.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace fovea::runtime {

class Json;

/// Numbers of the reserved words `<unk> <pad> <bos> <eos>`.
inline constexpr std::int32_t kUnknown = 0, kPad = 1, kBegin = 2, kEnd = 3;

/// Words by number: the four reserved ones, then by falling frequency, ties by bytes.
class Vocabulary {
  public:
    /// The reserved words alone.
    Vocabulary();
    /// The words that occur at least `min_freq` times in `sentences`.
    static Vocabulary count(const std::vector<std::vector<std::string>>& sentences,
                            std::int64_t min_freq);
    /// From the words in the order of their numbers, as to_json writes them. Throws UserError,
    /// which names `origin`, unless it is a list of strings, none twice, that starts with the
    /// reserved.
    static Vocabulary from_json(const std::string& json, const std::string& origin);
    /// The same from what was parsed already.
    static Vocabulary from_list(const Json& list, const std::string& origin);
    std::string to_json() const;

    std::size_t size() const { return words_.size(); }
    const std::string& word(std::int32_t id) const {
        return words_.at(static_cast<std::size_t>(id));
    }
    /// The word's number, or kUnknown. A reserved word in a text is unknown too: a sentence with a
    /// literal `<pad>` must not be taken for padding.
    std::int32_t id(const std::string& word) const;
    std::vector<std::int32_t> ids(const std::vector<std::string>& words) const;
    std::vector<std::string> words(const std::vector<std::int32_t>& ids) const;

    friend bool operator==(const Vocabulary& a, const Vocabulary& b) {
        return a.words_ == b.words_;
    }

  private:
    void add(const std::string& word);

    std::vector<std::string> words_;
    std::unordered_map<std::string, std::int32_t> ids_;  // without the reserved words
};

}  // namespace fovea::runtime
