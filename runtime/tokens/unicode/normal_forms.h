// The normal forms of Unicode (UAX #15): canonical or compatible, apart or composed.
#pragma once

#include <string>
#include <string_view>

namespace fovea::runtime::tokens {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The form of a UTF-8 text.
std::string normal_form(std::string_view text, NormalForm form);

}  // namespace fovea::runtime::tokens
