#include "codegen/lower/attention_tiles.h"

#include <algorithm>
#include <array>

#include "codegen/base/error.h"
#include "codegen/ops/attention/key_parts.h"

namespace fovea::lower {

using kernel::Access;
using kernel::AxisId;
using kernel::Id;

AttentionTiles::AttentionTiles(const Graph& graph, const fuse::FusedGraph& fused,
                               const fuse::Group& group, Memories& memories, std::string name)
    : graph_(graph),
      group_(group),
      node_(graph[group.anchor]),
      attributes_(graph.attentions[std::size_t(node_.attribute)]),
      build_(graph, fused, group, memories, std::move(name)) {
    const Shape& queries = graph[input(AttentionInput::query)].shape;
    const Shape& values = graph[input(AttentionInput::value)].shape;
    const Dim of_queries = queries[-1].without_label();
    const Dim of_keys = graph[input(AttentionInput::key)].shape[-1].without_label();
    b = axis("b", queries[0]);
    h = m = kNoAxis;
    if (queries.rank() == 4) {
        if (!(queries[1].without_label() == values[1].without_label()))  // as many, none among them
            members_ = queries[1].without_label() / values[1].without_label();
        if (in_parts()) members_ = attributes_.parts;
        h = axis("h", values[1]);
        m = axis(in_parts() ? "part" : "m", members_);
    }
    q = builder().axis("q", queries[-2]);
    k = builder().axis("k", values[-2]);
    d = builder().axis("d", queries[-1]);
    c = of_keys == of_queries ? d : builder().axis("c", of_keys);
    e = builder().axis("e", values[-1]);
    if (attributes_.has_lens) lens_rank_ = graph[input(AttentionInput::lens)].shape.rank();
}

AxisId AttentionTiles::axis(const std::string& name, const Dim& dim) {
    return dim.is_one() ? kNoAxis : builder().axis(name, dim);
}

std::vector<AxisId> AttentionTiles::points() const {
    std::vector<AxisId> points;
    for (AxisId axis : in_parts() ? std::array{m, b, h} : std::array{b, h, m})
        if (axis != kNoAxis) points.push_back(axis);
    return points;
}

std::vector<AxisId> AttentionTiles::axes(AxisId row, AxisId column) const {
    std::vector<AxisId> all{b};
    if (graph_[input(AttentionInput::query)].shape.rank() == 4) all.push_back(kHeads);
    all.push_back(row);
    all.push_back(column);
    return all;
}

Access AttentionTiles::access(int id, const std::vector<AxisId>& axes, bool written) {
    const auto of_heads = std::find(axes.begin(), axes.end(), kHeads) - axes.begin();
    std::vector<AxisId> own = axes;
    const bool of_members = m != kNoAxis && (written || !in_parts());
    std::replace(own.begin(), own.end(), kHeads, of_members ? m : h);
    const auto picked = std::find_if(own.begin(), own.end(), is_picked_row);
    const Id row = picked == own.end() ? -1 : row_of_axis(*picked);
    if (row >= 0) *picked = kNoAxis;
    Access access = build_.access(id, own, written);
    if (row >= 0) {
        access.row = row;
        access.row_stride = fuse::stride_of(build_.layout(id), int(picked - own.begin()));
    }
    if (of_heads < std::ptrdiff_t(own.size()) && of_members && h != kNoAxis) {
        const Dim head = fuse::stride_of(build_.layout(id), int(of_heads));
        access.strides.push_back({h, head * members_});
    }
    for (AxisId axis : own) {
        auto along = [&](const kernel::Stride& stride) { return stride.axis == axis; };
        if (axis != kNoAxis && std::none_of(access.strides.begin(), access.strides.end(), along))
            access.strides.push_back({axis, Dim(1)});
    }
    return access;
}

Id AttentionTiles::load(AttentionInput which, AxisId row, AxisId column) {
    std::vector<AxisId> own = axes(row, column);
    if (which == AttentionInput::key || which == AttentionInput::value)
        std::replace(own.begin(), own.end(), kHeads, h);
    return builder().load(access(input(which), own, false));
}

Id AttentionTiles::load_delta() {
    std::vector<AxisId> rows = axes(q, kNoAxis);
    rows.pop_back();
    return builder().load(access(input(AttentionInput::delta), rows, false));
}

Id AttentionTiles::load_statistics(int which) {
    return builder().load(statistics(input(AttentionInput::statistics), which, false));
}

Access AttentionTiles::statistics(int id, int which, bool written) {
    std::vector<AxisId> rows = axes(q, kNoAxis);
    rows.back() = rows[rows.size() - 2];
    for (std::size_t i = rows.size() - 2; i > 0; --i) rows[i] = rows[i - 1];
    rows[0] = kNoAxis;
    Access result = access(id, rows, written);
    if (which == 1) result.offset = result.offset + fuse::stride_of(build_.layout(id), 0);
    return result;
}

Access AttentionTiles::result(int id, const std::vector<AxisId>& own) {
    std::vector<AxisId> all = axes(kNoAxis, kNoAxis);
    all.resize(all.size() - 2);
    all.insert(all.end(), own.begin(), own.end());
    return access(id, all, true);
}

int AttentionTiles::find(AttentionResult result, int number) const {
    for (int id : group_.nodes)
        if (graph_[id].result == result && graph_[id].axis == number) return id;
    return -1;
}

void AttentionTiles::load_query() {
    query = builder().named(load(AttentionInput::query, q, d), "query");
}

void AttentionTiles::load_key() { key = builder().named(load(AttentionInput::key, k, c), "key"); }

PairTiles AttentionTiles::pairs(const Graph& function) {
    return PairTiles(
        function, builder(),
        [this](const Node& input, const TileAxes& own) { return leaf(input, own); },
        c == d ? TileAxes{d} : TileAxes{d, c});
}

Id AttentionTiles::scores(Id live) {
    Id score = pairs(function().forward).output({Role::score}, {}, kLog2e, live);
    // One that is the same for all keys, or queries, is a tile of all pairs nevertheless.
    std::vector<AxisId> missing;
    const std::vector<AxisId> own = builder().kernel().nodes[std::size_t(score)].axes;
    for (AxisId axis : {q, k})
        if (std::find(own.begin(), own.end(), axis) == own.end()) missing.push_back(axis);
    if (!missing.empty()) score = builder().add(score, builder().fill(0, missing));
    return builder().named(score, "scores");
}

Id AttentionTiles::leaf(const Node& leaf, const TileAxes& own) {
    auto index = [&](AxisId axis) {
        return axis == kNoAxis ? builder().constant(0, i32) : builder().index(axis);
    };
    switch (leaf.port.role) {
        case Role::score: return score_gradient;
        case Role::query: return own[0] == d ? query : load(AttentionInput::query, q, own[0]);
        case Role::key: return own[0] == c ? key : load(AttentionInput::key, k, own[0]);
        case Role::batch: return index(b);
        case Role::head: return head();
        case Role::query_index: return index(q);
        case Role::key_index: return index(k);
        case Role::capture: break;
        default: throw InternalError("lower: a score reads " + std::string(leaf.name));
    }
    const int first = int(AttentionInput::first_capture);
    const int id = node_.inputs[std::size_t(first + leaf.port.number)];
    return builder().load(access(id, own, false));
}

Id AttentionTiles::head() {
    if (m == kNoAxis || in_parts())
        return h == kNoAxis ? builder().constant(0, i32) : builder().index(h);
    if (h == kNoAxis) return builder().index(m);
    const Id first = builder().mul(builder().index(h), builder().extent(members_, i32));
    return builder().add(first, builder().index(m));
}

Id AttentionTiles::dropout() {
    std::vector<kernel::Stride> row{{q, Dim(1)}};
    const Shape& queries = graph_[input(AttentionInput::query)].shape;
    Dim stride = queries[-2].without_label();
    if (m != kNoAxis) row.push_back({m, stride});
    if (h != kNoAxis) row.push_back({h, stride * members_});
    if (queries.rank() == 4) stride = stride * queries[1].without_label();
    if (b != kNoAxis) row.push_back({b, stride});
    return builder().named(
        builder().random(attributes_.site, attributes_.dropout, row, {{k, Dim(1)}}), "dropped");
}

Id AttentionTiles::lens() {
    std::vector<AxisId> own{b};
    if (lens_by_query()) own.push_back(q);
    return builder().named(builder().load(access(input(AttentionInput::lens), own, false)),
                           "length");
}

Id AttentionTiles::segment(AttentionInput which, AxisId axis) {
    return builder().load(access(input(which), {b, axis}, false));
}

Id AttentionTiles::tighter(Elementwise function, Id one, Id other) {
    if (one < 0 || other < 0) return one < 0 ? other : one;
    return builder().map(function, {one, other});
}

Id AttentionTiles::first_key() {
    const KeyWindow& window = attributes_.window;
    Id first = window.ends_before() ? behind_start(q, window.before) : -1;
    if (has_segments())
        first = tighter(Elementwise::maximum, first, segment(AttentionInput::segment_starts, q));
    return first < 0 ? first : builder().named(first, "first_key");
}

Id AttentionTiles::end_of_keys() {
    const KeyWindow& window = attributes_.window;
    Id end = window.ends_after() ? behind(q, window.after) : -1;
    if (has_segments())
        end = tighter(Elementwise::minimum, end, segment(AttentionInput::segment_ends, q));
    return end < 0 ? end : builder().named(end, "end_key");
}

Id AttentionTiles::first_query() {
    const KeyWindow& window = attributes_.window;
    Id first = window.ends_after() ? behind_start(k, window.after) : -1;
    if (has_segments())
        first = tighter(Elementwise::maximum, first, segment(AttentionInput::segment_starts, k));
    return first < 0 ? first : builder().named(first, "first_query");
}

Id AttentionTiles::end_of_queries() {
    const KeyWindow& window = attributes_.window;
    Id end = window.ends_before() ? behind(k, window.before) : -1;
    if (has_segments())
        end = tighter(Elementwise::minimum, end, segment(AttentionInput::segment_ends, k));
    return end < 0 ? end : builder().named(end, "end_query");
}

Id AttentionTiles::behind_start(AxisId axis, std::int64_t distance) {
    const Id at = builder().index(axis);
    if (distance == 0) return at;
    const Id start = builder().sub(at, builder().constant(double(distance), i32));
    return builder().map(Elementwise::maximum, {start, builder().constant(0, i32)});
}

Id AttentionTiles::behind(AxisId axis, std::int64_t distance) {
    const Id at = builder().index(axis);
    return builder().add(at, builder().constant(double(distance + 1), i32));
}

bool AttentionTiles::may_pass_keys() const {
    const Dim queries = graph_[input(AttentionInput::query)].shape[-2].without_label();
    const Dim all = graph_[input(AttentionInput::key)].shape[-2].without_label();
    return attributes_.window.ends_before() && (has_lens() || !(queries == all));
}

Id AttentionTiles::passes_keys(Id start, Id length) {
    Id limit = keys();
    if (length >= 0) limit = builder().map(Elementwise::minimum, {length, limit});
    return builder().le(limit, start);
}

Id AttentionTiles::seen_pairs() {
    if (!has_segments()) return allowed();
    const Id starts = segment(AttentionInput::segment_starts, q);
    const Id same =
        builder().map(Elementwise::eq, {starts, segment(AttentionInput::segment_starts, k)});
    builder().named(same, "same_segment");
    if (!attributes_.has_allowed) return same;
    return builder().map(Elementwise::logical_and, {allowed(), same});
}

Id AttentionTiles::allowed() {
    int id = input(AttentionInput::allowed);
    const Shape& shape = graph_[id].shape;
    std::vector<AxisId> all = axes(q, k), own;
    for (int i = 0; i < shape.rank(); ++i)
        own.push_back(shape[i].is_one() ? kNoAxis
                                        : all[all.size() - std::size_t(shape.rank() - i)]);
    return builder().named(builder().load(access(id, own, false)), "allowed");
}

Id AttentionTiles::keys(DType dtype) {
    return builder().extent(graph_[input(AttentionInput::key)].shape[-2].without_label(), dtype);
}

Id AttentionTiles::keys_of_part(Id keys) {
    const auto number = [&](int value) { return builder().constant(value, i32); };
    const int all = attributes_.parts * kPartUnit;
    const Id rounded = builder().add(keys, number(all - 1));
    return builder().mul(builder().div(rounded, number(all)), number(kPartUnit));
}

void take_factors(kernel::Kernel& kernel, kernel::Factors factors) {
    for (kernel::Node& node : kernel.nodes)
        if (auto contract = std::get_if<kernel::Contract>(&node.operation))
            contract->factors = factors;
}

}  // namespace fovea::lower
