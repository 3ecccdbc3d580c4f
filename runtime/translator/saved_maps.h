// Attention weights in a file.
#pragma once

#include <string>
#include <vector>

#include "attention_maps.h"

namespace fovea::runtime {

/// Maps, and the tokens beside their axes.
struct SavedMaps {
    std::vector<AttentionMap> maps;
    MapTokens tokens;
};

/// Writes the maps as tensors [heads, queries, keys] by their names; axes and tokens are metadata.
void save_attention_maps(const std::string& path, const SavedMaps& saved);

/// Reads such a file. Of one that has tensors alone, tokens are numbers from 1. UserError where a
/// tensor is no map: not float32 [heads, queries, keys], with as many tokens as it has places.
SavedMaps read_attention_maps(const std::string& path);

}  // namespace fovea::runtime
