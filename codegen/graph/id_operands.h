// Which operands of a node are ids of rows, labels of classes or valid lengths.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// What i32 values are: rows of a table or classes, from 0 to below a limit; or lengths, from 0 to
/// a limit. An output node says so in `Node::axis`, and its limit in `Node::dim`: it is no result
/// of the model, but a value that is checked after a run (codegen/optimize/guard_ids.h).
enum class Holds : int { anything, ids, lengths };

constexpr bool is_check(const Node& node) { return node.op == Op::output && node.axis != 0; }

struct IdOperand {
    int operand = 0;  // into Node::inputs
    Holds holds = Holds::ids;
    Dim limit{};
    std::string_view function{};  // that a model calls; empty: the op's name
};

/// Those of node `id`; none for most.
std::vector<IdOperand> id_operands(const Graph& graph, int id);

/// The graph with checks of what its composites, and those of the steps of its scans, read as
/// labels and lengths: the primitives that they become know nothing of them.
Graph with_checks(const Graph& graph);

/// `model.cpp:12: the ids of gather in encoder.embedding`, for messages.
std::string place_of_operand(const Graph& graph, int id, Holds holds,
                             std::string_view function = {});

/// Whether a value is what `holds` says, below `limit` or up to it.
inline bool is_within(double value, Holds holds, std::int64_t limit) {
    return value >= 0 && value <= double(holds == Holds::lengths ? limit : limit - 1);
}

/// `model.cpp:12: element [0, 3] of the ids of gather is 99; ids are from 0 to 9`. The runtime's
/// check of computed values says the same.
std::string out_of_range_text(const std::string& place, Holds holds, double value,
                              std::int64_t index, std::span<const std::int64_t> shape,
                              std::int64_t limit);

}  // namespace fovea
