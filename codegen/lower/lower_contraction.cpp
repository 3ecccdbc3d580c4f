// An einsum: which of its labels are batch, rows, lanes and summed, and the loops for them.
#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/kernel/rewrites/collapse_axes.h"
#include "codegen/lower/group_builder.h"
#include "codegen/lower/lower_group.h"

namespace fovea::lower {

using kernel::AxisId;
using kernel::Id;

namespace {

/// The labels of an einsum by their part in the kernel. Operand `lanes` has the output's innermost
/// own axis: it is read along the lanes, the other one is broadcast.
struct Roles {
    std::vector<int> batch, rows, columns,
        summed;  // in the order of the output; summed: of operand a
    bool lanes_are_b = true;
};

/// Drops the labels of one position, which are no loops, where others are there to be tiles.
void keep_long(const Graph& graph, const Node& node, const EinsumAxes& axes,
               std::vector<int>& labels) {
    const auto is_one = [&](int label) {
        for (std::size_t operand : {0, 1}) {
            const EinsumAxes::List& list = operand ? axes.b : axes.a;
            for (int i = 0; i < list.count; ++i)
                if (list.label[std::size_t(i)] == label)
                    return graph[node.inputs[operand]].shape[i].is_one();
        }
        return false;
    };
    if (!std::all_of(labels.begin(), labels.end(), is_one)) std::erase_if(labels, is_one);
}

Roles find_roles(const Graph& graph, const Node& node, const EinsumAxes& axes) {
    Roles roles;
    for (int i = axes.out.count - 1; i >= 0; --i) {
        int label = axes.out.label[std::size_t(i)];
        if (axes.a.contains(label) == axes.b.contains(label)) continue;
        roles.lanes_are_b = axes.b.contains(label);
        break;
    }
    const EinsumAxes::List& lanes = roles.lanes_are_b ? axes.b : axes.a;
    const EinsumAxes::List& other = roles.lanes_are_b ? axes.a : axes.b;
    for (int i = 0; i < axes.out.count; ++i) {
        int label = axes.out.label[std::size_t(i)];
        bool in_lanes = lanes.contains(label), in_other = other.contains(label);
        (in_lanes && in_other ? roles.batch
         : in_lanes           ? roles.columns
                              : roles.rows)
            .push_back(label);
    }
    for (const EinsumAxes::List* list : {&axes.a, &axes.b})
        for (int i = 0; i < list->count; ++i) {
            int label = list->label[std::size_t(i)];
            bool known =
                axes.out.contains(label) ||
                std::find(roles.summed.begin(), roles.summed.end(), label) != roles.summed.end();
            if (!known) roles.summed.push_back(label);
        }
    keep_long(graph, node, axes, roles.rows);
    keep_long(graph, node, axes, roles.columns);
    return roles;
}

class Contraction {
  public:
    Contraction(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
                Memories& memories, std::string name)
        : graph_(graph),
          node_(graph[group.anchor]),
          inputs_(node_.inputs),
          group_(group),
          axes_(graph.einsums[std::size_t(node_.attribute)]),
          roles_(find_roles(graph, node_, axes_)),
          build_(graph, fused, group, memories, std::move(name)) {}

    /// `outer_rows` of the row labels become points (`each`), the rest stay tiles (`par`).
    LoweredKernel run(std::size_t outer_rows) {
        build_.set_domain(out_axes());
        for (int label : roles_.summed) axis_of(label);
        std::vector<int> points = roles_.batch;
        points.insert(points.end(), roles_.rows.begin(),
                      roles_.rows.begin() + std::ptrdiff_t(outer_rows));
        std::vector<int> tiles(roles_.rows.begin() + std::ptrdiff_t(outer_rows), roles_.rows.end());
        for (std::size_t i = 0; i < roles_.columns.size(); ++i)
            (i + 1 < roles_.columns.size() ? points : tiles).push_back(roles_.columns[i]);
        auto body = [&] {
            for (int id : group_.beside) build_.define(id, contract(id));
            build_.define(group_.anchor, contract(group_.anchor));
            build_.store_all();
        };
        if (real_axes(roles_.summed).empty()) {  // a product of rows, nothing to add up
            points.insert(points.end(), tiles.begin(), tiles.end());
            std::vector<AxisId> outer = real_axes(points);
            if (!outer.empty()) outer.pop_back();  // the tile's axis
            build_.builder().each(outer, body);
        } else {
            build_.builder().each(real_axes(points),
                                  [&] { build_.builder().par(real_axes(tiles), body); });
        }
        return build_.finish(formula());
    }

    /// Whether few sums of many products come of it, and nothing else: the gradient of a small
    /// matrix. Each is a sum over rows that different threads have made.
    bool takes_blocks() {
        const target::Lowering& target = build_.memories().target();
        const bool alone = group_.nodes.size() == 1 && group_.stored == group_.nodes;
        if (!alone || target.product_blocks < 2) return false;
        if (factors() != kernel::Factors::f32 || is_inner_product()) return false;
        for (int input : {node_.inputs[0], node_.inputs[1]})
            if (graph_[build_.layout(input).base].op == Op::parameter) return false;
        std::int64_t sums = 1, products = 1;
        for (int i = 0; i < node_.shape.rank(); ++i) {
            if (!node_.shape[i].is_static()) return false;
            sums *= node_.shape[i].value();
        }
        bool is_known = true;
        for (int label : roles_.summed) {
            const Dim dim = dim_of(label);
            is_known &= dim.is_static();
            if (dim.is_static()) products *= dim.value();
        }
        const bool is_matrix = roles_.batch.empty() && !real_axes(roles_.rows).empty() &&
                               !real_axes(roles_.columns).empty();
        return is_matrix && sums <= target.few_results &&
               (!is_known || products >= target.many_terms);
    }

    /// The sums of each block of products.
    LoweredKernel run_parts() {
        build_.set_domain(out_axes());
        for (int label : roles_.summed) axis_of(label);
        kernel::Builder& b = build_.builder();
        const AxisId blocks = b.axis("blocks", build_.memories().target().product_blocks);
        b.each(blocks, [&] {
            b.par(real_axes(own_labels()), [&] {
                const Id rows = b.load(operand_access(!roles_.lanes_are_b));
                const Id lanes = b.load(lanes_access());
                b.store(part_access(blocks, true),
                        b.contract_by_block(rows, lanes, real_axes(roles_.summed), blocks));
            });
        });
        return build_.finish(formula() + ", of each block of products");
    }

    /// The sums of all blocks.
    LoweredKernel run_totals() {
        const std::vector<AxisId> out = out_axes();
        build_.set_domain(out);
        kernel::Builder& b = build_.builder();
        std::vector<AxisId> rows = real_axes(own_labels());
        const AxisId column = rows.back(),
                     blocks = b.axis("blocks", build_.memories().target().product_blocks);
        rows.pop_back();
        b.each(rows, [&] {
            b.par(column, [&] {
                const Id part = b.load(part_access(blocks, false));
                b.store(build_.access(group_.anchor, out, true), b.sum(part, {blocks}));
            });
        });
        return build_.finish("the sums of all blocks of products");
    }

    /// Row tiles that are left after collapsing.
    std::size_t row_tiles(const kernel::Kernel& kernel) const {
        std::size_t count = 0;
        for (const kernel::Node& node : kernel.nodes)
            if (auto loop = std::get_if<kernel::Loop>(&node.operation))
                count += loop->kind == kernel::LoopKind::par;
        return roles_.columns.empty() || count == 0 ? count : count - 1;
    }
    std::size_t row_labels() const { return roles_.rows.size(); }

  private:
    const Shape& shape_of(bool b) const { return graph_[inputs_[b ? 1 : 0]].shape; }

    Dim dim_of(int label) const {
        Dim dim;
        for (bool b : {false, true}) {
            const EinsumAxes::List& list = b ? axes_.b : axes_.a;
            for (int i = 0; i < list.count; ++i)
                if (list.label[std::size_t(i)] == label) dim = shape_of(b)[i];
        }
        return dim;
    }

    AxisId axis_of(int label) {
        for (auto& [known, axis] : axis_by_label_)
            if (known == label) return axis;
        AxisId axis = build_.axis(dim_of(label));
        axis_by_label_.push_back({label, axis});
        return axis;
    }

    std::vector<AxisId> real_axes(const std::vector<int>& labels) {
        std::vector<AxisId> result;
        for (int label : labels)
            if (axis_of(label) != kNoAxis) result.push_back(axis_of(label));
        return result;
    }

    std::vector<AxisId> out_axes() {
        std::vector<AxisId> result;
        for (int i = 0; i < axes_.out.count; ++i)
            result.push_back(axis_of(axes_.out.label[std::size_t(i)]));
        return result;
    }

    /// The labels of one operand alone, rows before columns.
    std::vector<int> own_labels() const {
        std::vector<int> labels = roles_.rows;
        labels.insert(labels.end(), roles_.columns.begin(), roles_.columns.end());
        return labels;
    }

    /// [block, …] of the parts of the sums.
    kernel::Access part_access(AxisId blocks, bool written) {
        std::vector<Dim> shape{build_.memories().target().product_blocks};
        for (int i = 0; i < node_.shape.rank(); ++i)
            shape.push_back(node_.shape[i].without_label());
        std::vector<AxisId> axes = out_axes();
        axes.insert(axes.begin(), blocks);
        kernel::Access access;
        Dim stride = 1;
        for (std::size_t i = shape.size(); i-- > 0; stride = stride * shape[i])
            if (axes[i] != kNoAxis)
                access.strides.insert(access.strides.begin(), {axes[i], stride});
        access.buffer = build_.buffer(build_.memories().parts_of(group_.anchor, shape), written);
        return access;
    }

    std::vector<AxisId> operand_axes(bool b) {
        const EinsumAxes::List& list = b ? axes_.b : axes_.a;
        std::vector<AxisId> result;
        for (int i = 0; i < list.count; ++i) result.push_back(axis_of(list.label[std::size_t(i)]));
        return result;
    }

    /// The lanes' operand; a matrix parameter whose lanes are not contiguous is read from its
    /// transposed copy, but for tf32, which a GPU reads either way.
    kernel::Access lanes_access() {
        bool b = roles_.lanes_are_b;
        int operand = inputs_[b ? 1 : 0];
        const EinsumAxes::List& list = b ? axes_.b : axes_.a;
        if (reads_rounded(b) || is_stored(b)) return operand_access(b);
        const fuse::Layout& layout = build_.layout(operand);
        bool parameter = is_weight(graph_[operand]) && list.count == 2;
        bool across = parameter && !roles_.columns.empty() &&
                      list.label[0] == roles_.columns.back() && !shape_of(b)[1].is_one();
        const bool sums = !real_axes(roles_.summed).empty();
        if (!across || !sums || factors() == kernel::Factors::tf32)
            return build_.access(operand, operand_axes(b), false);
        const std::vector<AxisId> axes = operand_axes(b);
        Memories& memories = build_.memories();
        const bool pairs = memories.has_pairs();
        if (memories.has_halves() && !sums_columns(b))
            return build_.access(operand, operand_axes(b), false);
        if (!memories.has_halves() && memories.is_packed_by_products(shape_of(b)))
            return build_.access(operand, axes, false);
        const int memory = pairs                   ? memories.paired(layout.base)
                           : memories.has_halves() ? memories.transposed_halves(layout.base)
                                                   : memories.transposed(layout.base);
        const int buffer = build_.buffer(memory, false);
        const auto access = pairs ? paired_access : transposed_access;
        return access(buffer, shape_of(b)[0], shape_of(b)[1], axes[0], axes[1], memories.target());
    }

    /// Whether an operand is a weight that lies as whole numbers.
    bool is_stored(bool b) const {
        return bool(storage_of(graph_[build_.layout(inputs_[b ? 1 : 0]).base]));
    }

    /// Whether an operand is a matrix among the parameters of which there is a rounded copy, as it
    /// is.
    bool reads_rounded(bool b) {
        const Memories& memories = build_.memories();
        if (!memories.has_halves() || memories.target().weights == target::Weights::in_panels ||
            is_stored(b))
            return false;
        const int base = build_.layout(inputs_[b ? 1 : 0]).base;
        return base > 0 && is_weight(graph_[base]) && graph_[base].dtype == DType::f32 &&
               graph_[base].shape.rank() > 1 && !real_axes(roles_.summed).empty() &&
               !is_inner_product();
    }
    kernel::Access operand_access(bool b) {
        const int operand = inputs_[b ? 1 : 0];
        if (!reads_rounded(b)) return build_.access(operand, operand_axes(b), false);
        const fuse::Layout& layout = build_.layout(operand);
        return build_.access(layout, build_.memories().rounded(layout.base), operand_axes(b),
                             false);
    }

    /// Whether the one contracted axis is that of a matrix's columns, of a size that is known.
    bool sums_columns(bool b) {
        const EinsumAxes::List& list = b ? axes_.b : axes_.a;
        const Shape& shape = shape_of(b);
        return real_axes(roles_.summed).size() == 1 && roles_.summed[0] == list.label[1] &&
               shape[1].is_static() && !shape[0].is_one();
    }

    /// Whether one number is left of each pair of rows.
    bool is_inner_product() {
        return real_axes(roles_.rows).empty() && real_axes(roles_.columns).empty() &&
               real_axes(roles_.summed).size() == 1;
    }

    /// The product of node `id`, which has the labels of the others.
    Id contract(int id) {
        inputs_ = graph_[id].inputs;
        bool b = roles_.lanes_are_b;
        Id rows = build_.builder().load(operand_access(!b));
        Id lanes = build_.builder().load(lanes_access());
        std::vector<AxisId> summed = real_axes(roles_.summed);
        if (summed.empty()) return build_.builder().mul(rows, lanes);
        if (is_inner_product())  // along the lanes, as a row kernel does it
            return build_.builder().sum(build_.builder().mul(rows, lanes), summed);
        return build_.builder().contract(rows, lanes, summed, factors());
    }
    kernel::Factors factors() {
        const Memories& memories = build_.memories();
        if (is_stored(false) || is_stored(true)) return kernel::Factors::f32;
        for (std::size_t i : {0, 1})
            if (is_half(graph_[inputs_[i]].dtype))
                return kernel::factors_of(graph_[inputs_[i]].dtype);
        if (memories.has_halves()) return kernel::factors_of(memories.half());
        return memories.takes_tf32() ? kernel::Factors::tf32 : kernel::Factors::f32;
    }

    std::string operand_text(bool b) {
        const EinsumAxes::List& list = b ? axes_.b : axes_.a;
        return indexed(b ? "b" : "a", {list.label.begin(), list.label.begin() + list.count});
    }
    std::string indexed(std::string name, const std::vector<int>& labels) {
        name += "[";
        for (std::size_t i = 0; i < labels.size(); ++i)
            name += (i ? ", " : "") + axis_name(labels[i]);
        return name + "]";
    }
    std::string axis_name(int label) {
        AxisId axis = axis_of(label);
        return axis == kNoAxis ? "0" : build_.builder().kernel().axes[std::size_t(axis)].name;
    }
    /// `out[batch, i] = Σ j a[batch, j] · b[i, j], then add, relu`
    std::string formula() {
        std::string sum;
        for (int label : roles_.summed) sum += (sum.empty() ? "" : ", ") + axis_name(label);
        std::vector<int> out(axes_.out.label.begin(), axes_.out.label.begin() + axes_.out.count);
        std::string text = indexed("out", out) + " = " + (sum.empty() ? "" : "Σ " + sum + " ") +
                           operand_text(false) + " · " + operand_text(true);
        if (!group_.beside.empty())
            text += ", and of a · " +
                    indexed("c", {axes_.b.label.begin(), axes_.b.label.begin() + axes_.b.count});
        std::string words = describe(graph_, group_);
        std::size_t comma = words.find(", ");
        return comma == words.npos ? text : text + ", then " + words.substr(comma + 2);
    }

    const Graph& graph_;
    const Node& node_;
    Inputs inputs_;  // of the product whose operands are read
    const fuse::Group& group_;
    const EinsumAxes& axes_;
    Roles roles_;
    GroupBuilder build_;
    std::vector<std::pair<int, AxisId>> axis_by_label_;
};

bool sums_over_one_axis(const kernel::Kernel& kernel) {
    return std::any_of(kernel.nodes.begin(), kernel.nodes.end(), [](const kernel::Node& node) {
        auto contract = std::get_if<kernel::Contract>(&node.operation);
        return contract && contract->axes.size() == 1;
    });
}

}  // namespace

std::vector<LoweredKernel> lower_contraction(const Graph& graph, const fuse::FusedGraph& fused,
                                             const fuse::Group& group, Memories& memories) {
    const auto make = [&](std::string name) {
        return Contraction(graph, fused, group, memories, std::move(name));
    };
    Contraction tiled = make(group.name);
    LoweredKernel lowered = tiled.run(0);
    kernel::collapse_axes(lowered.kernel);
    if (tiled.takes_blocks() && sums_over_one_axis(lowered.kernel))
        return {make(group.name).run_parts(), make(group.name + "_total").run_totals()};
    if (tiled.row_tiles(lowered.kernel) <= 1) return {lowered};
    return {make(group.name).run(tiled.row_labels() - 1)};
}

}  // namespace fovea::lower
