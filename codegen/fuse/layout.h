// Where the elements of a value lie in memory, through the views between it and its storage.
#pragma once

#include <optional>
#include <vector>

#include "codegen/graph/graph.h"
#include "codegen/graph/op_def.h"

namespace fovea::fuse {

/// `extent` positions, `stride` elements apart.
struct Factor {
    Dim extent, stride;
};

/// The value's element (i, j, …) lies at offset + Σ over dims, where each dim is split into factors
/// (outermost first). `base` is the node whose memory it is.
struct Layout {
    int base = -1;
    Dim offset;
    std::vector<std::vector<Factor>> dims;
};

/// Memory of its own, row-major.
Layout row_major(int base, const Shape& shape);

/// The layout of a rearrangement of a value with layout `input`, or nothing when its splits do not
/// match the factors of the input's dims.
std::optional<Layout> rearranged(const Layout& input, const RearrangeAxes& axes);

/// The layout of x in the memory of `rearrange(x, axes)`, which is row-major with base `base`: what
/// the kernel that computes x stores to when x has no other reader.
Layout stored_rearranged(int base, const Shape& result, const RearrangeAxes& axes);

/// The layout of positions of an axis, which may be those of windows that overlap; nothing where
/// the axis has several factors.
std::optional<Layout> stepped(const Layout& input, const Steps& steps);

/// The layout of node `id`, a view, of a value with layout `input`; nothing where its memory has no
/// such strides.
std::optional<Layout> viewed(const Graph& graph, int id, const Layout& input);

/// Merges the factors of each dim where one continues the other.
void collapse_factors(Layout& layout);

/// Whether every dim has at most one factor: then it is a plain strided array.
bool is_strided(const Layout& layout);

/// Stride of dim `i` of a strided layout; 0 for a dim of extent 1.
Dim stride_of(const Layout& layout, int i);

/// Whether the value is its base's memory from start to end, in order.
bool is_whole(const Layout& layout);

}  // namespace fovea::fuse
