// The memories that kernels of a program refer to, made on demand.
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include "codegen/graph/module_names.h"
#include "codegen/lower/lower.h"

namespace fovea::lower {

/// Whether the transposed copy of a matrix with so many rows lies in panels: a contraction reads
/// each from start to end, however few rows its other operand has.
bool lies_in_panels(const Dim& rows, const target::Lowering& target);

/// Element (row, column) of a matrix in its transposed copy; kNoAxis where there is only one.
kernel::Access transposed_access(int buffer, const Dim& rows, const Dim& columns,
                                 kernel::AxisId row, kernel::AxisId column,
                                 const target::Lowering& target);

/// The same in a copy of bfloat16: [panels, pairs of columns, rows of a panel, 2].
kernel::Access paired_access(int buffer, const Dim& rows, const Dim& columns, kernel::AxisId row,
                             kernel::AxisId column, const target::Lowering& target);

class Memories {
  public:
    Memories(const Graph& graph, const fuse::FusedGraph& fused, const target::Lowering& target,
             bool tf32)
        : graph_(graph),
          fused_(fused),
          target_(target),
          tf32_(tf32),
          has_gradients_(std::ranges::any_of(graph.nodes, &Node::backward)),
          modules_(graph) {}

    /// The memory of base node `base`.
    int of(int base);
    /// What kernels are lowered for.
    const target::Lowering& target() const { return target_; }
    /// Whether products read a matrix as it lies, where a transposed copy would have its columns
    /// side by side (Lowering::packed_weights).
    bool is_packed_by_products(const Shape& matrix) const;
    /// The memory of the parts of node `base`, a sum over rows or a product: [blocks, …].
    int parts_of(int base, std::vector<Dim> shape);
    /// The memory of the transposed copy of parameter `base`, a matrix: [columns, rows], or, when
    /// contractions take its rows in several panels, [panels, columns, rows of a panel].
    int transposed(int base);
    /// The same of what contractions multiply: float16.
    int transposed_halves(int base);
    /// The same of bfloat16: [panels, pairs of columns, rows of a panel, 2].
    int paired(int base);
    /// The memory of a copy of parameter `base` as what contractions multiply.
    int rounded(int base);
    /// Whether contractions multiply bfloat16 or float16, and which; those inside scans do not.
    bool has_halves() const { return !fused_.in_halves.empty(); }
    DType half() const { return fused_.half; }
    /// Whether weights for them lie in pairs.
    bool has_pairs() const { return has_halves() && half() == DType::bf16; }
    /// Whether contractions may round float32 to tf32, also inside scans.
    bool takes_tf32() const { return tf32_; }
    /// New memory that no value of the graph has.
    int scratch(std::string name, DType dtype, const std::vector<Dim>& shape);
    const Memory& operator[](int i) const { return all_[std::size_t(i)]; }
    std::vector<Memory> take() { return std::move(all_); }
    /// Parameters whose transposed copy was asked for, in order.
    const std::vector<int>& transposed_parameters() const { return transposed_; }
    const std::vector<int>& transposed_halves_parameters() const { return transposed_halves_; }
    const std::vector<int>& paired_parameters() const { return paired_; }
    const std::vector<int>& rounded_parameters() const { return rounded_; }

  private:
    enum class Kind { value, transposed, transposed_halves, paired, rounded };
    int add(int base, Kind kind);
    std::string name_of(int base) const;

    const Graph& graph_;
    const fuse::FusedGraph& fused_;
    target::Lowering target_;
    bool tf32_, has_gradients_;
    ModuleNames modules_;
    std::vector<Memory> all_;
    std::vector<int> transposed_, transposed_halves_, paired_, rounded_;
    std::map<std::pair<int, Kind>, int> index_;
    std::map<int, int> parts_;
};

}  // namespace fovea::lower
