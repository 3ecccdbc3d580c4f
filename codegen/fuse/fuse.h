// Which nodes of the optimized graph become one kernel, and which values get memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/fuse/layout.h"
#include "codegen/graph/graph.h"

namespace fovea::fuse {

/// How a group is lowered.
enum class Form {
    rows,      // elementwise, with reductions over the last axis, and sums over rows
    columns,   // a reduction over other axes, and the elementwise ops before it
    contract,  // an einsum with an elementwise epilogue
    scatter,   // a scatter-add
    attention, // a fused attention's output and statistics
    attention_gradient,  // the gradients of a fused attention
    loss,      // what a loss without logits gives, its gradients with it
    scan,      // all results of a scan
    copy,      // a rearrangement, concatenation or output that no other kernel can store
};

std::string_view name_of(Form form);

/// Nodes that are computed together.
struct Group {
    Form form = Form::rows;
    std::vector<int> nodes;   // ascending
    std::vector<int> stored;  // those that others, or the user, read
    std::vector<int> sums{};  // of a row kernel: its sums over rows, which are stored too
    std::vector<int> beside{};  // of a product: another, whose sums its epilogue reads, too
    int anchor = -1;          // the einsum, reduction over columns, scatter-add or copied node
    Shape domain;             // what the group runs over
    bool reduces = false;     // over the last axis of the domain
    bool prepared = false;    // depends on parameters and the dims of its shape alone
    std::string name;         // module path and ops
};

/// A node that could have been fused with a reader of it, and was not.
struct Refusal {
    int node = 0, reader = 0;
    std::string reason;
};

struct FusedGraph {
    bool enabled = true;  // whether ops were fused
    std::vector<Group> groups;  // in an order in which they can run
    std::vector<int> group_of;  // node to group; -1: leaves, views, outputs and what is inlined
    /// Where a node's value lies; base -1 for values that have no memory. A base is a leaf, a
    /// stored node, a rearrangement that its producer stores directly, or an output that is copied.
    std::vector<Layout> layouts;
    /// For a base whose memory is an output of the program: the output's node, else -1.
    std::vector<int> output_of;
    /// Which bases are stored as `half`, although the graph says float32; empty: none, weights
    /// included. Kernels compute in float32 either way.
    std::vector<bool> in_halves;
    DType half = DType::f32;  // bf16 or f16, where some may be
    std::vector<Refusal> refusals;
};

/// Fuses adjacent ops into groups and places values; with `enabled` false, every op is a group.
FusedGraph fuse(const Graph& graph, bool enabled);

/// Whether a node is rematerialised in every kernel that reads it: constants, positions,
/// comparisons, random factors and values of these alone; with `enabled`, also what the backward
/// pass can recompute from one value and factors by row or column.
std::vector<bool> inlined_nodes(const Graph& graph, bool enabled);
/// Whether a node needs its inputs in memory: it looks rows up, or is no op by elements.
bool reads_memory(const Graph& graph, int reader);

/// Whether a node depends on an input or a state, or is drawn: others are the same in every run.
std::vector<bool> varying_nodes(const Graph& graph);

/// Whether a node depends on a size that is no axis of it, the length in a mean say: its elements
/// may be others while its shape is the same. Sizes of parameters are always the same.
std::vector<bool> change_beside_shape(const Graph& graph);

/// For each node, those that read it, in order.
std::vector<std::vector<int>> readers_of(const Graph& graph);

/// Whether a value is the elementwise epilogue of a contraction that nothing else reads: the
/// contraction then stores it instead of its own sums.
bool finishes_product(const Graph& graph, const std::vector<std::vector<int>>& readers, int id);

/// Puts every node that computes into a group (`groups`, `group_of`, `refusals` of the result).
FusedGraph group_nodes(const Graph& graph, const std::vector<bool>& inlined, bool enabled);

/// Merges row kernels: one with costly values into their only reader, those that share a value, and
/// sums over rows (the gradients of biases and of a norm's weight) into the row kernel that
/// computes or reads their operand.
void join_row_kernels(const Graph& graph, const std::vector<bool>& inlined, FusedGraph& fused);

/// Decides which values get memory, and adds copies where a view cannot be read in place.
void place_values(const Graph& graph, const std::vector<bool>& inlined, FusedGraph& fused);

/// Orders the groups so that each comes after those it reads from, and names them.
void order_groups(const Graph& graph, const std::vector<bool>& inlined, FusedGraph& fused);

/// Stores values that contractions and attention multiply as `half`, and the weights that
/// contractions read in panels. Parameters themselves, outputs of the program, and values that
/// kernels other than row kernels, copies, contractions and attention touch stay float32. With
/// `apart`, each gradient of attention is summed by a kernel of its own; without, that of the
/// queries, which is summed in memory, stays float32, too. A cast from an input that lies in
/// memory as `half`, or to an output that does, is no kernel: the other side reads or writes there.
void store_halves(const Graph& graph, FusedGraph& fused, DType half, bool apart = false);

/// The composite that a node belongs to, or its op; the products of attention by their result:
/// `masked_softmax`, `add`, `scores`.
std::string what_it_computes(const Graph& graph, int id);
/// The path of a module or a parameter as part of a name: `decoder_block0_ffn`.
std::string underscored(std::string path);

/// As `fovea show --stage fused` prints it.
std::string print(const Graph& graph, const FusedGraph& fused);

}  // namespace fovea::fuse
