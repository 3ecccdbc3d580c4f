// The input `valid_lens` of the chapters' attention functions.
#pragma once

#include <fovea.h>

namespace fovea::models {

/// How many keys are seen: i32 [batch] for rank 1, [batch, queries] for rank 2.
constexpr Tensor valid_lens_input(Scope s, int rank, Location location = Location::here()) {
    if (rank == 1) return s.input("valid_lens", {"batch"}, i32, location);
    if (rank == 2) return s.input("valid_lens", {"batch", "queries"}, i32, location);
    Text text;
    text << "lens_rank is 1 (a length for every sequence) or 2 (one for every query), not " << rank;
    return fail(*s.graph, location, s.id, text);
}

}  // namespace fovea::models
