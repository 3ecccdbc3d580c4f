#include "codegen/ops/attention/segments.h"

#include "codegen/ops/attention/mask.h"

namespace fovea {

SegmentBounds bounds_of_segments(Tensor segments) {
    const Location location = segments.node().location;
    const Tensor same = detail::same_segment(segments, location);
    const Shape along{Dim(1), Dim(1), segments.dim(1)};
    const Tensor end = cast(iota(*segments.graph, along, 2), f32) + 1.0;
    return {detail::first_position(same, 2, false, location),
            cast(amax(where(same, end, 0.0), 2), i32)};
}

}  // namespace fovea
