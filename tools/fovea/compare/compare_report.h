// What `fovea compare` prints, writes and draws.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "tools/fovea/compare/compare_forms.h"

namespace fovea::tool {

/// What was compared, at which sizes.
struct Comparison {
    std::string model, program;  // `transformer`, `gradient_train`
    int threads = 1;
    std::string swept;             // the dim whose sizes differ; empty: one row
    std::vector<CompareRow> rows;  // sorted by the swept dim
    std::optional<std::int64_t> crossover;

    /// From which size on fusion was measured to be faster, and what `fovea build` makes of it.
    std::string verdict() const;
    /// The dims that are the same in all rows: `batch=8 heads=4`.
    std::string fixed_dims() const;
};

std::string compare_table(const Comparison& comparison);

/// A list of {"model", "dims", "max_error", "off", "on", "crossover", "chosen"}.
nlohmann::ordered_json compare_json(const Comparison& comparison);

/// An SVG picture: time and peak memory of both forms and the
/// bytes counted to be moved, over the swept dim or, without
/// one, as bars.
std::string compare_chart(const Comparison& comparison);

}  // namespace fovea::tool
