// Runs a graph in float64, at any stage: what every kernel and every pass is compared with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/graph/op_def.h"
#include "codegen/reference/dim_sizes.h"
#include "codegen/reference/rounded_to.h"
#include "codegen/reference/solve_sizes.h"

namespace fovea {

struct InterpreterOptions {
    bool training =
        false;  // draw dropout (otherwise its factors are 1), and take the values of training
    std::uint64_t seed = 0, step = 0;
    /// What einsums multiply is rounded to tf32 first, also in scans; in attention it is not.
    bool tf32 = false;
    /// Comparisons are of operands rounded to float32, as kernels compare them: a value that was
    /// taken over from a kernel equals what it was made of. Those of bfloat16 and float16 always
    /// are of rounded operands.
    bool compares_in_single = false;
    /// Values that are equal but for rounding are not (codegen/reference/scatter_roundings.h).
    bool scatters_roundings = false;
    /// Refuse computed ids and lengths that are out of range; otherwise the nearest in range is
    /// read in their place, as kernels do (codegen/optimize/guard_ids.h).
    bool checks_ids = true;
};

/// Evaluates nodes on demand. Composites are expanded first; nodes that are kernels of their own
/// are given the values of their bodies.
class Interpreter {
  public:
    explicit Interpreter(const Graph& graph, InterpreterOptions options = {});
    Interpreter(const Interpreter&) = delete;
    Interpreter& operator=(const Interpreter&) = delete;

    /// From here on, the values of nodes are rounded to what memory holds of them, by node, and
    /// what the graph's einsums multiply to `factors` (f32: not), or, of halves, to their own type,
    /// as kernels do; those inside scans and attention are not.
    void round_to_memory(std::vector<DType> nodes, DType factors);
    /// Gives a symbolic dim its size.
    void bind(std::string_view dim, std::int64_t size);
    /// Gives an input (by name) or a parameter (by path) its values, and binds the symbolic dims
    /// that follow from its shape and from those before; all that was computed is forgotten.
    /// UserError when it does not fit.
    void set(const std::string& name, Array value);
    /// Takes these for the values of nodes, until an input is set: what is made of them is computed
    /// anew.
    void assume(const std::map<int, Array>& values);
    bool is_assumed(int id) const;
    /// What the node's value is rounded to; null when it is not.
    const NumberFormat* format(int id) const;
    /// What the graph's einsums of float32 round their operands to; null when they do not.
    const NumberFormat* factors() const;
    /// Whether the graph has an input or a parameter of this name.
    bool has(const std::string& name) const;

    /// The graph that is run: the given one with composites expanded (itself when it has none).
    const Graph& graph() const { return graph_; }
    const DimSizes& sizes() const { return sizes_; }
    const InterpreterOptions& options() const { return options_; }
    /// Binds all dims as another interpreter has them.
    void take_sizes(const DimSizes& sizes) { sizes_ = sizes; }
    /// What a node that is a kernel of its own is in plain ops: its inputs by number, `0`, …, and
    /// an output `result`.
    Graph body_of(int id) const;
    /// The value of a node of `graph()`.
    const Array& value(int id);
    /// The value of an output; UserError when there is none of this name.
    const Array& output(std::string_view name);
    std::map<std::string, Array> outputs();

  private:
    void forget();
    void evaluate(int id);
    void evaluate_scan(int id);
    void check(int id) const;
    Array value_of_body(int id);
    std::vector<std::int64_t> shape_of(const Node& node) const;
    std::string name_of_leaf(const Node& node) const;
    void bind_shape(const std::string& name, const Shape& shape, const Array& value);

    Graph graph_;
    InterpreterOptions options_;
    DimSizes sizes_;
    std::vector<GivenShape> computed_;  // of arrays with axes of computed sizes, as 2 * height
    std::map<std::string, Array> given_;
    std::vector<std::optional<Array>> values_;
    std::vector<bool> assumed_;  // nodes whose values are; empty: none
    std::map<int, std::vector<int>> checks_;  // of a node, by what is_check says of an output
    std::vector<DType> memory_;  // by node, what its values are rounded to; empty: nothing
    DType factors_ = DType::f32;
};

}  // namespace fovea
