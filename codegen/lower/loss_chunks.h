// How many tokens of a loss without logits are taken at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codegen/base/dim.h"
#include "codegen/target/lowering.h"

namespace fovea::lower {

/// As many whole vectors as `chunk_floats` of logits allow; the least where the number of classes
/// is known only when the program runs.
inline std::int64_t loss_chunk_rows(const Dim& classes, const target::LossChoices& target) {
    std::int64_t rows = target.least_rows;
    if (classes.is_static() && classes.value() > 0)
        rows = std::clamp<std::int64_t>(target.chunk_floats / classes.value(), target.least_rows,
                                        std::max(target.least_rows, target.most_rows));
    return rows / target::kLanes * target::kLanes;
}

}  // namespace fovea::lower
