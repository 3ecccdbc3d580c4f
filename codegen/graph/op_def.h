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
#include <span>
#include <vector>

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

struct OpDef {
    Op op = Op::poison;
    /// float64 semantics; null for leaves that the interpreter is given, and for composites, which
    /// are interpreted through their bodies.
    void (*reference)(const Evaluation&, Array& result) = nullptr;
    /// Adds the gradients of the inputs, given that of the result (`y` the result, `dy` of its
    /// shape). Null: no gradient flows; for composites: that of the body.
    void (*gradient)(const Node& node, Tensor y, Tensor dy, GradientSink& sink) = nullptr;
    /// The body of a composite, in primitives and other composites.
    Tensor (*expand)(const Expansion&) = nullptr;
};

/// The definition of an op; every op has one.
const OpDef& op_def(Op op);
/// All of them, in the order of `Op`.
std::span<const OpDef> op_defs();

}  // namespace fovea
