#include "codegen/lower/group_builder.h"

#include <algorithm>

#include "codegen/base/error.h"

namespace fovea::lower {

using kernel::Access;
using kernel::AxisId;
using kernel::Id;

namespace {

std::vector<std::string> sources_of(const Graph& graph, const fuse::Group& group) {
    std::vector<std::string> sources;
    for (int id : group.nodes) {
        const Location& place = graph[id].location;
        if (!place.line) continue;
        std::string source = std::string(place.file_name()) + ":" + std::to_string(place.line);
        if (std::find(sources.begin(), sources.end(), source) == sources.end())
            sources.push_back(source);
    }
    return sources;
}

/// The last two parts of a name, as an identifier: `ffn_dense1_weight` → `dense1_weight`.
std::string short_name(const std::string& name) {
    std::size_t parts = 0, at = name.size();
    while (at > 0 && parts < 2)
        if (name[--at] == '.' && ++parts == 2) ++at;
    std::string tail = name.substr(parts == 2 ? at : 0);
    std::replace(tail.begin(), tail.end(), '.', '_');
    return tail;
}

/// a, b, …, z, aa, ab, …
std::string letters(int number) {
    std::string text;
    for (; number > 0; number = (number - 1) / 26) text.insert(0, 1, char('a' + (number - 1) % 26));
    return text;
}

}  // namespace

GroupBuilder::GroupBuilder(const Graph& graph, const fuse::FusedGraph& fused,
                           const fuse::Group& group, Memories& memories, std::string name)
    : graph_(graph),
      fused_(fused),
      group_(group),
      memories_(memories),
      builder_(std::move(name), "", sources_of(graph, group)) {}

AxisId GroupBuilder::axis(const Dim& dim) {
    if (dim.is_one()) return kNoAxis;
    Text text;
    if (dim.label()) text << dim.label();
    else if (dim.bare_symbol()) text << dim.bare_symbol();
    std::string name(text.view());
    auto taken = [&](const std::string& candidate) {
        return candidate.empty() ||
               std::find(axis_names_.begin(), axis_names_.end(), candidate) != axis_names_.end();
    };
    for (char letter = 'i'; taken(name) && letter <= 'z'; ++letter) name = std::string(1, letter);
    axis_names_.push_back(name);
    return builder_.axis(name, dim.without_label());
}

std::vector<AxisId> GroupBuilder::axes(const Shape& shape) {
    std::vector<AxisId> result;
    for (const Dim& dim : shape) result.push_back(axis(dim));
    return result;
}

int GroupBuilder::buffer(int memory, bool written) {
    auto [at, fresh] = buffers_.try_emplace(memory, int(buffer_memories_.size()));
    if (!fresh) return at->second;
    const Memory& what = memories_[memory];
    std::string name = short_name(what.name);
    int count = ++buffer_names_[name];
    if (count > 1) name += "_" + letters(count);
    builder_.buffer(name, what.dtype, what.shape, written, what.storage);
    buffer_memories_.push_back(memory);
    return at->second;
}

Access GroupBuilder::access(const fuse::Layout& layout, int memory, const std::vector<AxisId>& axes,
                            bool written) {
    if (!is_strided(layout)) throw InternalError("lower: a value is not a strided array");
    Access access{.buffer = buffer(memory, written), .strides = {}, .offset = layout.offset};
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i] != kNoAxis && !layout.dims[i].empty())
            access.strides.push_back({axes[i], stride_of(layout, int(i))});
    return access;
}

Access GroupBuilder::access(int id, const std::vector<AxisId>& axes, bool written) {
    const fuse::Layout& where = layout(id);
    if (where.base < 0) throw InternalError("lower: a value has no memory");
    return access(where, memories_.of(where.base), axes, written);
}

std::vector<AxisId> GroupBuilder::aligned(int rank) const {
    if (rank > int(domain_.size())) throw InternalError("lower: a node is larger than its group");
    return {domain_.end() - rank, domain_.end()};
}

bool GroupBuilder::is_computed_here(int id) const {
    if (layout(id).base < 0) return true;
    return std::binary_search(group_.nodes.begin(), group_.nodes.end(), id) &&
           group_.form != fuse::Form::copy;
}

Id GroupBuilder::value(int id) {
    if (auto at = values_.find(id); at != values_.end()) return at->second;
    Id tile = is_computed_here(id)
                  ? compute(id)
                  : builder_.load(access(id, aligned(graph_[id].shape.rank()), false));
    values_[id] = tile;
    return tile;
}

Id GroupBuilder::compute(int id) {
    const Node& node = graph_[id];
    switch (node.op) {
        case Op::constant: return builder_.constant(node.value, node.dtype);
        case Op::extent: return builder_.extent(node.dim, node.dtype);
        case Op::iota: {
            AxisId along = aligned(node.shape.rank())[std::size_t(node.axis)];
            bool one = along == kNoAxis || node.shape[node.axis].is_one();
            return one ? builder_.constant(0, i32) : builder_.index(along);
        }
        case Op::broadcast:
        case Op::stop_gradient: return value(node.inputs[0]);
        case Op::random: return compute_random(node);
        case Op::gather: return compute_gather(node);
        case Op::reduce: return compute_reduce(node);
        case Op::elementwise: {
            if (node.function == Elementwise::identity &&
                node.dtype == graph_[node.inputs[0]].dtype)
                return value(node.inputs[0]);
            std::vector<Id> operands;
            for (int input : node.inputs)
                if (input > 0) operands.push_back(value(input));
            if (node.function == Elementwise::identity)
                return builder_.cast(operands[0], node.dtype);
            return builder_.map(node.function, operands, graph_[node.inputs[0]].dtype);
        }
        default: throw InternalError("lower: no tile for op " + std::string(row_of(node.op).name));
    }
}

Id GroupBuilder::compute_gather(const Node& node) {
    int table = node.inputs[0], ids = node.inputs[1];
    std::vector<AxisId> all = aligned(node.shape.rank());
    std::vector<AxisId> of_ids(all.begin(), all.begin() + graph_[ids].shape.rank());
    std::vector<AxisId> columns(all.begin() + graph_[ids].shape.rank(), all.end());
    columns.insert(columns.begin(), kNoAxis);
    Id row = builder_.load(access(ids, of_ids, false));
    Access from = access(table, columns, false);
    from.row = row;
    from.row_stride = stride_of(layout(table), 0);
    return builder_.load(from);
}

Id GroupBuilder::compute_random(const Node& node) {
    std::vector<AxisId> all = aligned(node.shape.rank());
    std::vector<kernel::Stride> row, column;
    Dim stride(1);
    for (int i = node.shape.rank() - 2; i >= 0; --i) {
        if (!node.shape[i].is_one()) row.push_back({all[std::size_t(i)], stride});
        stride = stride * node.shape[i].without_label();
    }
    if (!all.empty() && !node.shape[-1].is_one()) column.push_back({all.back(), Dim(1)});
    return builder_.random(node.site, node.value, row, column);
}

Id GroupBuilder::compute_reduce(const Node& node) {
    Id operand = value(node.inputs[0]);
    const Shape& input = graph_[node.inputs[0]].shape;
    std::vector<AxisId> all = aligned(input.rank()), over;
    const std::vector<AxisId> varies = builder_.kernel().nodes[std::size_t(operand)].axes;
    bool sum = node.reduction == Reduction::sum;
    for (int i = 0; i < input.rank(); ++i) {
        if (!(node.axis >> i & 1) || input[i].is_one()) continue;
        AxisId along = all[std::size_t(i)];
        if (std::find(varies.begin(), varies.end(), along) != varies.end()) over.push_back(along);
        else if (sum) operand = builder_.mul(operand, builder_.extent(input[i].without_label()));
    }
    if (over.empty()) return operand;
    return builder_.reduce(sum ? kernel::Reduction::sum : kernel::Reduction::max, operand, over);
}

void GroupBuilder::store_all() {
    const auto is_row_sum = [&](int id) {
        return std::binary_search(group_.sums.begin(), group_.sums.end(), id);
    };
    for (int id : group_.nodes)
        if (!is_row_sum(id)) value(id);
    for (int id : group_.stored)
        if (!is_row_sum(id))
            builder_.store(access(id, aligned(graph_[id].shape.rank()), true), value(id));
}

LoweredKernel GroupBuilder::finish(std::string formula) {
    kernel::Kernel kernel = builder_.finish();
    kernel.formula = std::move(formula);
    return {std::move(kernel), buffer_memories_, group_.prepared};
}

std::string describe(const Graph& graph, const fuse::Group& group) {
    std::vector<std::string_view> words;
    for (int id : group.nodes) {
        const Node& node = graph[id];
        std::string_view word =
            node.op == Op::elementwise ? row_of(node.function).name : row_of(node.op).name;
        if (node.op == Op::reduce) word = node.reduction == Reduction::sum ? "sum" : "max";
        if (node.composite != Op::poison) word = row_of(node.composite).name;
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
    std::string text;
    for (std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
    return text;
}

}  // namespace fovea::lower
