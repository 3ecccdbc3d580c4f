// The keys that a mask leaves, as a boolean tensor.
#include "codegen/ops/attention/mask.h"

#include "codegen/ops/movement.h"

namespace fovea {

Tensor kept_keys(Graph& graph, const Shape& scores, const Mask& mask) {
    int rank = scores.rank(), queries = rank - 2, keys = rank - 1;
    auto positions = [&](int axis) {
        Shape shape;
        for (int i = 0; i < rank; ++i) shape.push(i == axis ? scores[axis] : Dim(1));
        return iota(graph, shape, axis);
    };
    Tensor kept;
    auto also = [&](Tensor condition) {
        kept = kept.exists() ? logical_and(kept, condition) : condition;
    };
    if (mask.lens.exists()) {
        Tensor lens = mask.lens.rank() == 1 ? place_axes(mask.lens, rank, {0})
                                            : place_axes(mask.lens, rank, {0, queries});
        also(positions(keys) < lens);
    }
    if (mask.window.ends_after()) {
        Tensor key = positions(keys);
        const double after = double(mask.window.after);
        Tensor last = after == 0 ? positions(queries) : positions(queries) + after;
        also(key <= last);
    }
    if (mask.window.ends_before()) {
        Tensor first = positions(queries) - double(mask.window.before);
        also(first <= positions(keys));
    }
    if (mask.segments.exists()) {
        Tensor of_queries = place_axes(mask.segments, rank, {0, queries});
        Tensor of_keys = place_axes(mask.segments, rank, {0, keys});
        also(eq(of_queries, of_keys));
    }
    if (mask.allowed.exists()) also(mask.allowed);
    return kept;
}

}  // namespace fovea
