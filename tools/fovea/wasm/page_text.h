// The HTML of a page that translates.
#pragma once

#include <string>
#include <vector>

namespace fovea::tool {

/// What is on the page.
struct TranslatorPage {
    std::string title;
    std::string program;  // JavaScript of `link_wasm`, with the function `fovea_translate`
    std::string weights;  // the bytes of the weights file
    std::vector<std::string> sentences;  // that it offers
};

/// One file that needs no other, nor a network.
std::string page_text(const TranslatorPage& page);

/// Base64 of RFC 4648, padded.
std::string base64(const std::string& bytes);

}  // namespace fovea::tool
