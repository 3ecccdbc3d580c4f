// An op, whole in one place: what it means, its gradient, and the body of a composite.
//
// The shape rule is constexpr and stands in the header of the op's family (codegen/ops/*.h),
// because the compiler runs it through the DSL; the rest is in the .cpp of the same name.
// `op_defs()` is the one explicit list.
//
// Bodies and gradient rules add nodes in an order that does not depend on the compiler: an
// expression holds at most one operand that adds nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/graph/id_operands.h"
#include "codegen/graph/tensor.h"

namespace fovea {

/// A dense array of float64, row-major; booleans are 0 and 1, i32 are whole numbers.
struct Array {
    std::vector<std::int64_t> shape;
    std::vector<double> values;

    std::int64_t size() const {
        std::int64_t product = 1;
        for (std::int64_t extent : shape) product *= extent;
        return product;
    }
};

/// What the reference semantics of an op are given besides its inputs' arrays.
struct Evaluation {
    const Graph& graph;
    int id = 0;
    std::span<const Array* const> inputs;              // null where the node has none
    std::vector<std::int64_t> shape;                   // of the result
    std::uint64_t seed = 0, step = 0;                  // of dropout
    std::int64_t (*size_of)(const void* dims, const Dim& dim) = nullptr;
    const void* dims = nullptr;
    bool training = false;

    const Node& node() const { return graph[id]; }
    std::int64_t value(const Dim& dim) const { return size_of(dims, dim); }
};

/// The gradient rule's view: reads the node's inputs and result, adds to its inputs' gradients.
/// Everything is in one graph; new nodes are appended to it.
class GradientSink {
  public:
    virtual ~GradientSink() = default;
    /// Input `i` of the node, as a value of the graph.
    virtual Tensor input(int i) = 0;
    /// Whether a gradient of input `i` is wanted (it depends on a parameter or a wanted input).
    virtual bool wants(int i) = 0;
    /// Adds to the gradient of input `i`; `gradient` has the input's shape, or one that the input's
    /// shape broadcast to (it is then summed back).
    virtual void add(int i, Tensor gradient) = 0;
    /// The same for any other value that the node reads (captured by a score region).
    virtual void add_to(Tensor value, Tensor gradient) = 0;
};

/// Where a composite's body is built: the values that stand for the node's inputs (an empty Tensor
/// where it has none), and for any other value of the source graph that a score region reads.
struct Expansion {
    const Graph& source;
    int id = 0;
    Graph& target;
    std::span<const Tensor> inputs;
    Tensor (*captured)(const void* state, int source_id) = nullptr;
    const void* state = nullptr;

    const Node& node() const { return source[id]; }
    Tensor value_of(int source_id) const { return captured(state, source_id); }
};

/// The table of the graph that `Node::attribute` is an index into.
enum class Attribute : unsigned char { none, einsum, rearrange, attention, scan, logit_curve };

/// What an op does along one axis of an operand.
enum class Along : unsigned char {
    maps,  // what is computed at a position depends on no other; one of size 1 may be repeated
    reduces,  // all positions go into each element of the result
    moves,  // its elements come to other positions, each as it is
    mixes,  // anything else
};
struct AxisUse {
    Along along = Along::mixes;
    int to = -1;  // the axis of the result that it maps to
};
/// Where a view's elements stand along an axis of its operand: at first + the sum of position *
/// step over the axes that take its place in the result, outermost first.
struct Steps {
    struct Along {
        Dim extent;
        std::int64_t step = 1;
    };

    int axis = 0;
    Dim first{};
    std::vector<Along> along{};
    Dim lowest{}, size{};  // the axis must have so many positions from the lowest on
};
/// In place of an operand: the result of an op without any.
inline constexpr int kOfResult = -1;

/// A value of one element of many; `along`: the axes that number them stand in front of its own.
struct Batched {
    Tensor tensor{};
    bool along = false;
};

/// Where an op is built for many elements at once: `axes` axes number them, and one of these has
/// size 1 in an input that does not change along it. At least one input has them.
struct Batch {
    const Graph& source;
    int id = 0;
    Graph& target;
    int axes = 0;
    std::span<const Batched> inputs;

    const Node& node() const { return source[id]; }
    Tensor input(int i) const { return inputs[std::size_t(i)].tensor; }
    bool along(int i) const { return inputs[std::size_t(i)].along; }
};

/// Where the builder of a node is called again, on stand-ins of its inputs.
struct Derivation {
    const Graph& source;
    const Node& node;
    Graph& target;
    std::span<const Tensor> inputs;  // empty where the node has none
};

/// All that is known of an op beside its shape rule. A pass asks; it names no op to know it.
struct OpDef {
    Op op = Op::poison;
    std::pair<int, int> inputs{0, 0};  // the least and the largest number
    Attribute attribute = Attribute::none;
    Cost cost = Cost::memory;  // of an element; of elementwise ops see `cost_of`
    int copied = 0;  // each element of the result is one of the first so many inputs'
    bool draws = false;  // each run draws other values
    bool unique = false;  // two of the same inputs are not the same value
    /// float64 semantics; null for leaves that the interpreter is given, and for composites, which
    /// are interpreted through their bodies.
    void (*reference)(const Evaluation&, Array& result) = nullptr;
    /// Adds the gradients of the inputs, given that of the result (`y` the result, `dy` of its
    /// shape). Null: no gradient flows; for composites: that of the body.
    void (*gradient)(const Node& node, Tensor y, Tensor dy, GradientSink& sink) = nullptr;
    /// The body of a composite, in primitives and other composites.
    Tensor (*expand)(const Expansion&) = nullptr;
    /// What it does along an axis of an operand, or of its result (kOfResult). Null: it mixes.
    AxisUse (*axis)(const Graph& graph, const Node& node, int operand, int axis) = nullptr;
    /// Of a view of some positions of an axis: which they are. Null: it is no such view.
    Steps (*steps)(const Node& node) = nullptr;
    /// The op for many elements at once, which its result is along. Null: there is no such.
    Tensor (*batch)(const Batch&) = nullptr;
    /// Why not, for `axes` axes in front of the inputs in `along` (bits). Null: it always can be.
    std::optional<std::string_view> (*why_not_batch)(const Graph& graph, const Node& node,
                                                     std::uint64_t along, int axes) = nullptr;
    /// The node by its builder. Null: its shape is what it was given, and no rule says otherwise.
    Tensor (*derive)(const Derivation&) = nullptr;
    /// What is wrong with the attributes that `derive` relies on. Null: nothing can be.
    std::optional<std::string> (*why_not_derivable)(const Graph& graph, int id) = nullptr;
    /// The op with its attributes, as it is printed. Null: its name.
    std::string (*text)(const Graph& graph, const Node& node) = nullptr;
    /// The operands that are ids or lengths. Null: none is.
    std::vector<IdOperand> (*ids)(const Graph& graph, const Node& node) = nullptr;
};

/// The definition of an op; every op has one.
const OpDef& op_def(Op op);
/// All of them, in the order of `Op`.
std::span<const OpDef> op_defs();

/// What an element of a node costs to compute.
inline Cost cost_of(const Node& node) {
    return node.op == Op::elementwise ? row_of(node.function).cost : op_def(node.op).cost;
}
/// Whether an element is computed of others of its operands than those in its place, which must
/// then lie in memory: a row of a table.
inline bool looks_up(const Node& node) {
    return row_of(node.op).op_class == OpClass::elementwise && cost_of(node) == Cost::memory;
}

}  // namespace fovea
