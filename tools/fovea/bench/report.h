// What `fovea bench` prints and writes.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "tools/fovea/bench/bench_row.h"
#include "tools/fovea/bench/machine.h"

namespace fovea::tool {

/// `AMD EPYC 9654, avx512, 8 threads`, and what it reaches.
std::string machine_line(const Machine& machine);

/// Lines of the table, as rows come: a head before the first of each suite.
class BenchTable {
  public:
    std::string lines_of(const BenchRow& row);

  private:
    std::string suite_;
};

/// One line: how much of its peak the machine gave, and how far runs of the same work differed.
std::string steadiness_line(const Machine& machine, const std::vector<BenchRow>& rows);

/// {"machine", "results"}.
nlohmann::ordered_json bench_json(const Machine& machine, const std::vector<BenchRow>& rows);

/// An SVG picture: FLOP per byte against GFLOP/s on logarithmic axes, below the roof that the
/// machine's bandwidth and peak make.
std::string roofline(const Machine& machine, const std::vector<BenchRow>& rows);

}  // namespace fovea::tool
