// A caller's threads in the C interface.
#pragma once

#include <memory>

#include "../c.h"
#include "../parallel/region.h"

namespace fovea::runtime {

/// Null for null. UserError for a count below 1 or above 1024, and without a function.
std::unique_ptr<RegionThreads> threads_of(const fovea_threads* threads);

}  // namespace fovea::runtime
