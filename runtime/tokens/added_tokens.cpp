// The leftmost of the longest added tokens, found by a trie at each byte.
#include "added_tokens.h"

#include <algorithm>
#include <map>

#include "character.h"
#include "unicode/unicode.h"

namespace fovea::runtime::tokens {

AddedTokens::AddedTokens(const std::vector<Field>& fields, const TokenIds& model,
                         const Normalizer& normalizer) {
    for (const Field& field : fields) add(field, model);
    make_tries(fields, normalizer);
}

void AddedTokens::add(const Field& field, const TokenIds& model) {
    Added added{.text = field["content"].text(),
                .is_special = field.boolean_or("special", false),
                .is_word = field.boolean_or("single_word", false),
                .strips_left = field.boolean_or("lstrip", false),
                .strips_right = field.boolean_or("rstrip", false)};
    added.is_normalized = field.boolean_or("normalized", !added.is_special);
    if (added.text.empty()) return;
    const Field place = field["id"];
    const std::int32_t id = read_id(place);
    const std::int32_t known = model.id_of(added.text);
    if (known != kNoToken && known != id)
        place.refuse("is {}, and model.vocab gives '{}' the id {}", {id, added.text, known});
    if (known == kNoToken && model.token_of(id))
        place.refuse("is {}, the id of '{}' in model.vocab", {id, *model.token_of(id)});
    const auto [own, is_new] = ids_.try_emplace(added.text, id);
    if (!is_new && own->second != id)
        place.refuse("is {}, and '{}' has the id {} already", {id, added.text, own->second});
    if (known == kNoToken && is_new && id != next_id(model))
        place.refuse("is {}, and the next id that is free is {}", {id, next_id(model)});
    largest_ = std::max(largest_, id);
    if (added.is_special) specials_.insert(added.text);
    tokens_[id] = std::move(added);
}

std::int32_t AddedTokens::next_id(const TokenIds& model) const {
    return std::max(largest_ + 1, static_cast<std::int32_t>(model.id_count()));
}

void AddedTokens::make_tries(const std::vector<Field>& fields, const Normalizer& normalizer) {
    std::map<std::string, std::int32_t> before, behind;
    // Of equal texts the first one counts, special ones before others.
    for (const bool takes_special : {true, false})
        for (const Field& field : fields) {
            const auto id = ids_.find(field["content"].text());
            if (id == ids_.end()) continue;
            const Added& added = tokens_.at(id->second);
            if (specials_.contains(added.text) != takes_special) continue;
            NormalText text{added.text};
            if (added.is_normalized && normalizer) normalizer(text);
            if (!text.text.empty())
                (added.is_normalized ? behind : before).emplace(text.text, id->second);
        }
    before_ = ByteTrie({before.begin(), before.end()});
    behind_ = ByteTrie({behind.begin(), behind.end()});
}

bool AddedTokens::stands_alone(std::string_view text, std::size_t begin, std::size_t end) const {
    return (begin == 0 || !is_word(character_at(text, tokens::before(text, begin)))) &&
           (end == text.size() || !is_word(character_at(text, end)));
}

std::vector<AddedTokens::Found> AddedTokens::find(std::string_view text,
                                                  const ByteTrie& trie) const {
    std::vector<Found> found;
    std::size_t taken = 0;  // the end of the last one and of the white space that went with it
    for (std::size_t at = 0; at < text.size();) {
        Found best{at, 0, kNoToken};
        if (trie.has_first(static_cast<unsigned char>(text[at])))
            trie.each_prefix(text.substr(at), [&](std::size_t size, std::int32_t token) {
                best.end = at + size;
                best.token = token;
            });
        if (best.token == kNoToken) {
            ++at;
            continue;
        }
        at = best.end;
        const Added& added = tokens_.at(best.token);
        if (added.is_word && !stands_alone(text, best.begin, best.end)) continue;
        while (added.strips_left && best.begin > taken &&
               is_white_space(character_at(text, tokens::before(text, best.begin))))
            best.begin = tokens::before(text, best.begin);
        if (added.strips_left) best.begin = std::max(best.begin, taken);
        while (added.strips_right && best.end < text.size() &&
               is_white_space(character_at(text, best.end)))
            best.end += width_at(text, best.end);
        taken = best.end;
        if (best.begin < best.end) found.push_back(best);  // else it went with the one before
    }
    return found;
}

Pieces AddedTokens::cut(std::string_view text, const Normalizer& normalizer) const {
    Pieces pieces;
    const auto add_token = [&](std::int32_t token) {
        pieces.pieces.push_back({pieces.text.size(), pieces.text.size(), 0, token});
    };
    const auto cut_normalized = [&](std::string_view part, std::size_t first) {
        const auto add_rest = [&](std::size_t from, std::size_t to) {
            if (from >= to) return;
            const std::size_t begin = pieces.text.size();
            pieces.text += part.substr(from, to - from);
            pieces.pieces.push_back(
                {begin, pieces.text.size(), first_of_part(first, from, to), kNoToken});
        };
        std::size_t at = 0;
        for (const Found& token : find(part, behind_)) {
            add_rest(at, token.begin);
            add_token(token.token);
            at = token.end;
        }
        add_rest(at, part.size());
    };
    const auto add_part = [&](std::size_t begin, std::size_t end) {
        if (begin >= end) return;
        const std::string_view part = text.substr(begin, end - begin);
        const std::size_t first = begin == 0 ? width_at(text, 0) : 0;
        if (!normalizer) return cut_normalized(part, first);
        NormalText normal{std::string(part), first};
        normalizer(normal);
        cut_normalized(normal.text, normal.first);
    };
    std::size_t at = 0;
    for (const Found& token : find(text, before_)) {
        add_part(at, token.begin);
        add_token(token.token);
        at = token.end;
    }
    add_part(at, text.size());
    return pieces;
}

std::int32_t AddedTokens::id_of(std::string_view text) const {
    const auto found = ids_.find(std::string(text));
    return found == ids_.end() ? kNoToken : found->second;
}

std::optional<std::string_view> AddedTokens::token_of(std::int32_t id) const {
    const auto found = tokens_.find(id);
    if (found == tokens_.end()) return std::nullopt;
    return found->second.text;
}

std::size_t AddedTokens::size_besides(const TokenIds& model) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        ids_, [&](const auto& added) { return model.id_of(added.first) == kNoToken; }));
}

}  // namespace fovea::runtime::tokens
