// `<0x00>` to `<0xFF>`, the tokens of bytes that a model falls back to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "token_ids.h"

namespace fovea::runtime::tokens {

/// `<0x0A>` of 10.
std::string byte_token(std::uint8_t byte);
/// The byte of such a token, or nullopt.
std::optional<std::uint8_t> byte_of_token(std::string_view token);

/// The ids of the bytes that a vocabulary has tokens for.
class ByteIds {
  public:
    ByteIds() { ids_.fill(kNoToken); }
    explicit ByteIds(const TokenIds& tokens) {
        for (unsigned byte = 0; byte < 256; ++byte)
            ids_[byte] = tokens.id_of(byte_token(static_cast<std::uint8_t>(byte)));
    }

    /// Appends the ids of the bytes of a text; false, and nothing, where one has none.
    bool append(std::string_view text, std::vector<std::int32_t>& ids) const {
        for (const char c : text)
            if (ids_[static_cast<unsigned char>(c)] == kNoToken) return false;
        for (const char c : text) ids.push_back(ids_[static_cast<unsigned char>(c)]);
        return true;
    }

  private:
    std::array<std::int32_t, 256> ids_;
};

}  // namespace fovea::runtime::tokens
