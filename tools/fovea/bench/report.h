// What `fovea bench` prints and writes.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "tools/fovea/bench/bench_row.h"
#include "tools/fovea/bench/machine.h"

namespace fovea::tool {

/// The machine, then a line for each row.
std::string bench_table(const Machine& machine, const std::vector<BenchRow>& rows);

/// {"machine", "results"}.
nlohmann::ordered_json bench_json(const Machine& machine, const std::vector<BenchRow>& rows);

/// An SVG picture: FLOP per byte against GFLOP/s on logarithmic axes, below the roof that the
/// machine's bandwidth and peak make.
std::string roofline(const Machine& machine, const std::vector<BenchRow>& rows);

}  // namespace fovea::tool
