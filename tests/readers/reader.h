// What the targets share: what a reader may do with bytes that nobody meant for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace fovea::readers {

/// Ends the run with the input that led here.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "defect: %s\n", what);
    std::abort();
}

/// Reads: an `Error`, which says something, is a fair refusal. Any other exception ends the run.
template <class Error, class Body>
bool accepts(Body&& read) {
    try {
        read();
        return true;
    } catch (const Error& error) {
        require(*error.what() != 0, "a refusal without a word");
        return false;
    }
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// The parts of a text between line feeds.
inline std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (;;) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return lines;
        text.remove_prefix(end + 1);
    }
}

}  // namespace fovea::readers
