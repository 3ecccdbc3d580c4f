// A stream decodes the tokens since the last complete text, and gives what is new.
#include "tokenizer.h"

namespace fovea::runtime::tokens {

std::string TextStream::add(std::int32_t id) {
    ids_.push_back(id);
    const std::string text = text_of_all();
    // A replacement character at the end may be the start of a character.
    const bool is_whole =
        text.size() > given_.size() && text.starts_with(given_) && !text.ends_with("\xEF\xBF\xBD");
    if (!is_whole) return {};
    std::string added = text.substr(given_.size());
    // The tokens before keep the next ones from being decoded like those at the start of a text.
    ids_.erase(ids_.begin(), ids_.begin() + std::ptrdiff_t(given_count_));
    given_count_ = ids_.size();
    given_ = text_of_all();
    return added;
}

std::string TextStream::finish() {
    const std::string text = text_of_all();
    std::string rest = text.starts_with(given_) ? text.substr(given_.size()) : "";
    ids_.clear();
    given_.clear();
    given_count_ = 0;
    return rest;
}

}  // namespace fovea::runtime::tokens
