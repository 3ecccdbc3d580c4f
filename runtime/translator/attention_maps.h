// The attention weights of one sentence and its translation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../instance.h"

namespace fovea::runtime {

/// The tokens along an axis of a map.
enum class MapAxis { source, target };

/// The weights of one module.
struct AttentionMap {
    std::string name;  // `encoder.blks.block0.attention.weights`
    std::int64_t heads = 1, queries = 0, keys = 0;
    MapAxis query_axis = MapAxis::source, key_axis = MapAxis::source;
    std::vector<float> weights;  // [heads, queries, keys]
};

/// The tokens beside the maps' axes.
struct MapTokens {
    std::vector<std::string> source;    // read by the encoder
    std::vector<std::string> read;      // by the decoder: `<bos>` first
    std::vector<std::string> produced;  // by the decoder
};

/// Runs the program `attention` by teacher forcing: `source` ends with `<eos>`, `target` are the
/// tokens that were produced, `<eos>` included where it was. Query i of a target axis is where
/// target[i] was produced, key i where the token before it was read. UserError where the model has
/// no such program. The source is padded to `source_steps`; maps have no padding.
std::vector<AttentionMap> attention_maps(const Model& model, Parameters& parameters,
                                         const DimValues& dims,
                                         std::span<const std::int32_t> source,
                                         std::size_t source_steps,
                                         std::span<const std::int32_t> target);

}  // namespace fovea::runtime
