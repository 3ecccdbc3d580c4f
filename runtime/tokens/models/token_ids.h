// The tokens of a model and their ids, either by the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../field.h"
#include "../steps/pieces.h"

namespace fovea::runtime::tokens {

class TokenIds {
  public:
    TokenIds() = default;
    /// Of an object {"token": id}. UserError for an id that is negative, above ten million or that
    /// two tokens have.
    explicit TokenIds(const Field& vocabulary);

    /// Sets the id of a token; a later one of the same text or id takes the place of the former.
    void set(std::string_view token, std::int32_t id);

    /// kNoToken where there is none.
    std::int32_t id_of(std::string_view token) const {
        const auto found = ids_.find(token);
        return found == ids_.end() ? kNoToken : found->second;
    }
    std::optional<std::string_view> token_of(std::int32_t id) const;
    /// How many tokens there are.
    std::size_t size() const { return ids_.size(); }
    /// How many ids have a token; more where several have the same one.
    std::size_t id_count() const { return id_count_; }
    std::size_t longest() const { return longest_; }  // in bytes
    auto begin() const { return ids_.begin(); }
    auto end() const { return ids_.end(); }

  private:
    struct HashText {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };

    std::unordered_map<std::string, std::int32_t, HashText, std::equal_to<>> ids_;
    std::vector<const std::string*> tokens_;  // by id
    std::size_t longest_ = 0, id_count_ = 0;
};

/// The largest id that a file may give a token.
inline constexpr std::uint32_t kLargestId = 10'000'000;
/// The id that a field holds.
std::int32_t read_id(const Field& field);

}  // namespace fovea::runtime::tokens
