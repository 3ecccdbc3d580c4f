// Where the positions of a text stand in the values of a model, and whether they stay apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// The tokens of a model's text, of the target where it has a source.
inline constexpr std::string_view kIds = "ids", kTarget = "tgt";
/// What a step is given beside its token: how many stand before it.
inline constexpr std::string_view kPosition = "position";

/// The values that the logits of a model are made of.
struct TimedGraph {
    const Graph& model;
    Symbol time;
    int logits = 0;            // what the output of this name is
    std::vector<bool> wanted;  // by node: whether logits depend on it
    std::vector<int> axis;     // by node: along which positions stand; -1: it has none

    bool has_time(int id) const { return id > 0 && axis[std::size_t(id)] >= 0; }
};

/// UserError where the model has no ids or no logits, or where its ops mix positions.
TimedGraph find_time_axes(const Graph& model);

/// A size in which `symbol` is 1.
Dim with_one(const Dim& dim, const Symbol& symbol);

}  // namespace fovea
