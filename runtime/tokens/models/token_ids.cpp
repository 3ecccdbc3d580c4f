// A hash map of the tokens, and a list of pointers into it.
#include "token_ids.h"

#include <algorithm>

namespace fovea::runtime::tokens {

std::int32_t read_id(const Field& field) {
    const std::uint32_t id = field.count();
    if (id > kLargestId) field.refuse("is {}, and ids end at {}", {id, kLargestId});
    return static_cast<std::int32_t>(id);
}

TokenIds::TokenIds(const Field& vocabulary) {
    if (!vocabulary.json().is_object()) vocabulary.refuse("is no object {\"token\": id}");
    const Json::Object& members = vocabulary.json().object();
    ids_.reserve(members.size());
    for (const auto& [token, id] : members) {
        if (!id.is_integer() || id.integer() < 0 || id.integer() > kLargestId)
            vocabulary.refuse("gives '{}' no id from 0 to {}", {token, kLargestId});
        const auto number = static_cast<std::int32_t>(id.integer());
        if (token_of(number))
            vocabulary.refuse("gives '{}' and '{}' the same id {}",
                              {*token_of(number), token, number});
        set(token, number);
    }
}

void TokenIds::set(std::string_view token, std::int32_t id) {
    const auto place = ids_.insert_or_assign(std::string(token), id).first;
    if (tokens_.size() <= static_cast<std::size_t>(id))
        tokens_.resize(static_cast<std::size_t>(id) + 1);
    const std::string*& slot = tokens_[static_cast<std::size_t>(id)];
    id_count_ += slot == nullptr;
    slot = &place->first;
    longest_ = std::max(longest_, token.size());
}

std::optional<std::string_view> TokenIds::token_of(std::int32_t id) const {
    const auto index = static_cast<std::size_t>(id);
    if (id < 0 || index >= tokens_.size() || !tokens_[index]) return std::nullopt;
    return *tokens_[index];
}

}  // namespace fovea::runtime::tokens
