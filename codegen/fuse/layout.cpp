#include "codegen/fuse/layout.h"

namespace fovea::fuse {

namespace {

/// The stride of the axis around one of `extent` positions, `stride` apart. Around an axis of no
/// positions it is any: one that is not 0, which would mean that all positions are one element.
Dim stride_around(const Dim& stride, const Dim& extent) {
    return extent == Dim(0) ? stride : stride * extent.without_label();
}

}  // namespace

Layout row_major(int base, const Shape& shape) {
    Layout layout{.base = base, .offset = Dim(0), .dims = {}};
    layout.dims.resize(std::size_t(shape.rank()));
    Dim stride(1);
    for (int i = shape.rank() - 1; i >= 0; --i) {
        if (!shape[i].is_one())
            layout.dims[std::size_t(i)].push_back({shape[i].without_label(), stride});
        stride = stride_around(stride, shape[i]);
    }
    return layout;
}

namespace {

/// Splits the factors of one dim into elementary axes of the given sizes (outermost first).
std::optional<std::vector<Factor>> split(const std::vector<Factor>& factors,
                                         const std::vector<Dim>& sizes) {
    std::vector<Factor> result(sizes.size());
    std::size_t at = factors.size();
    Dim taken(1), extent(1), stride(0);  // of the factor being split, from its inner end
    for (std::size_t i = sizes.size(); i-- > 0;) {
        const Dim size = sizes[i].without_label();
        result[i] = {size, Dim(0)};
        if (size.is_one()) continue;
        if (taken == extent) {
            if (at == 0) return std::nullopt;
            --at;
            taken = Dim(1);
            extent = factors[at].extent;
            stride = factors[at].stride;
        }
        result[i].stride = stride;
        taken = taken * size;
        stride = stride * size;
    }
    if (!(taken == extent) || at != 0) return std::nullopt;
    return result;
}

int groups_of(const FixedArray<signed char, Shape::kMaxRank>& group) {
    int count = 0;
    while (count < Shape::kMaxRank && group[std::size_t(count)] >= 0) ++count;
    return count;
}

/// The layout of a result that has no elements, whatever its strides; nothing for others.
std::optional<Layout> without_elements(const Layout& input, const RearrangeAxes& axes) {
    bool is_empty = false;
    for (int i = 0; i < axes.count; ++i) is_empty = is_empty || axes.axis[std::size_t(i)] == Dim(0);
    if (!is_empty) return {};
    Shape shape;
    int used = 0;
    for (int g = 0; g < groups_of(axes.output_group); ++g) {
        Dim extent(1);
        for (int i = 0; i < axes.output_group[std::size_t(g)]; ++i)
            extent = extent * axes.axis[std::size_t(axes.order[std::size_t(used++)])];
        shape.push(extent);
    }
    Layout result = row_major(input.base, shape);
    result.offset = input.offset;
    return result;
}

}  // namespace

std::optional<Layout> rearranged(const Layout& input, const RearrangeAxes& axes) {
    if (auto empty = without_elements(input, axes)) return empty;
    std::vector<Factor> elementary;
    int at = 0;
    for (int g = 0; g < groups_of(axes.input_group); ++g) {
        std::vector<Dim> sizes;
        for (int i = 0; i < axes.input_group[std::size_t(g)]; ++i)
            sizes.push_back(axes.axis[std::size_t(at++)]);
        auto parts = split(input.dims[std::size_t(g)], sizes);
        if (!parts) return std::nullopt;
        elementary.insert(elementary.end(), parts->begin(), parts->end());
    }
    Layout result{.base = input.base, .offset = input.offset, .dims = {}};
    int used = 0;
    for (int g = 0; g < groups_of(axes.output_group); ++g) {
        std::vector<Factor> dim;
        for (int i = 0; i < axes.output_group[std::size_t(g)]; ++i) {
            const Factor& factor = elementary[std::size_t(axes.order[std::size_t(used++)])];
            if (!factor.extent.is_one()) dim.push_back(factor);
        }
        result.dims.push_back(dim);
    }
    collapse_factors(result);
    return result;
}

Layout stored_rearranged(int base, const Shape& result, const RearrangeAxes& axes) {
    std::vector<Factor> elementary(std::size_t(axes.count));
    Dim stride(1);
    int last = 0;
    for (int g = 0; g < result.rank(); ++g) last += axes.output_group[std::size_t(g)];
    for (int i = last - 1; i >= 0; --i) {
        int axis = axes.order[std::size_t(i)];
        Dim extent = axes.axis[std::size_t(axis)].without_label();
        elementary[std::size_t(axis)] = {extent, stride};
        stride = stride_around(stride, extent);
    }
    Layout layout{.base = base, .offset = Dim(0), .dims = {}};
    int at = 0;
    for (int g = 0; g < groups_of(axes.input_group); ++g) {
        std::vector<Factor> dim;
        for (int i = 0; i < axes.input_group[std::size_t(g)]; ++i, ++at)
            if (!elementary[std::size_t(at)].extent.is_one())
                dim.push_back(elementary[std::size_t(at)]);
        layout.dims.push_back(dim);
    }
    collapse_factors(layout);
    return layout;
}

std::optional<Layout> stepped(const Layout& input, const Steps& steps) {
    const std::vector<Factor> factors = input.dims[std::size_t(steps.axis)];
    if (factors.size() > 1) return std::nullopt;
    Layout result = input;
    // Of an axis of one position: that one, or none.
    const Dim stride = factors.empty() ? Dim(1) : factors[0].stride;
    if (!factors.empty()) result.offset = result.offset + steps.first * stride;
    const auto at = result.dims.erase(result.dims.begin() + steps.axis);
    std::vector<std::vector<Factor>> dims;
    for (const Steps::Along& along : steps.along) {
        dims.emplace_back();
        if (!along.extent.is_one())
            dims.back().push_back({along.extent.without_label(), stride * Dim(along.step)});
    }
    result.dims.insert(at, dims.begin(), dims.end());
    return result;
}

std::optional<Layout> viewed(const Graph& graph, int id, const Layout& input) {
    const Node& node = graph[id];
    if (const auto steps = op_def(node.op).steps) return stepped(input, steps(node));
    return rearranged(input, graph.rearranges[std::size_t(node.attribute)]);
}

void collapse_factors(Layout& layout) {
    for (auto& factors : layout.dims)
        for (std::size_t i = 1; i < factors.size();) {
            if (factors[i - 1].stride == factors[i].stride * factors[i].extent) {
                factors[i].extent = factors[i - 1].extent * factors[i].extent;
                factors.erase(factors.begin() + std::ptrdiff_t(i) - 1);
            } else {
                ++i;
            }
        }
}

bool is_strided(const Layout& layout) {
    for (const auto& factors : layout.dims)
        if (factors.size() > 1) return false;
    return true;
}

Dim stride_of(const Layout& layout, int i) {
    const auto& factors = layout.dims[std::size_t(i)];
    return factors.empty() ? Dim(0) : factors[0].stride;
}

bool is_whole(const Layout& layout) {
    if (!(layout.offset == Dim(0)) || !is_strided(layout)) return false;
    Dim stride(1);
    for (std::size_t i = layout.dims.size(); i-- > 0;) {
        if (layout.dims[i].empty()) continue;
        if (!(layout.dims[i][0].stride == stride)) return false;
        stride = stride_around(stride, layout.dims[i][0].extent);
    }
    return true;
}

}  // namespace fovea::fuse
