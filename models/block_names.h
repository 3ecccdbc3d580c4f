// Names of what decoding keeps for each block or layer.
#pragma once

#include <fovea.h>

namespace fovea::models {

/// Names that inputs and outputs of decoder blocks have: `block3.keys`; of layers: `layer3.h`.
struct BlockNames {
    static constexpr int kMost = 64;
    char text[kMost][32]{};

    constexpr explicit BlockNames(std::string_view part, std::string_view start = "block") {
        for (int i = 0; i < kMost; ++i) {
            int end = 0;
            for (char c : start) text[i][end++] = c;
            if (i >= 10) text[i][end++] = char('0' + i / 10);
            text[i][end++] = char('0' + i % 10);
            for (char c : part) text[i][end++] = c;
        }
    }
    constexpr const char* operator[](int block) const { return text[block]; }
};

inline constexpr BlockNames kMemoryKeys(".memory_keys"), kMemoryValues(".memory_values"),
    kKeys(".keys"), kValues(".values");

/// An error where a model has more blocks than there are names.
constexpr bool too_many_blocks(Scope s, int layers) {
    if (layers <= BlockNames::kMost) return false;
    Text text;
    text << "decoding is for at most " << BlockNames::kMost << " layers, not " << layers;
    fail(*s.graph, Location::here(), s.id, text);
    return true;
}

}  // namespace fovea::models
