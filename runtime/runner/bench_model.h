// Times of a model's programs on random inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../files/json.h"
#include "../instance.h"
#include "../program.h"

namespace fovea::runtime {

struct ProgramTime {
    std::string program;
    int runs = 0;
    double median_ms = 0, p10_ms = 0, p90_ms = 0;
    std::size_t workspace_bytes = 0, prepared_bytes = 0;
};

/// Sizes for dims that the user left open: 16 for batches, 1000 for vocabularies; others are 64, or
/// as long as the longest of them that is given, since one may have to hold another.
DimValues default_dims(const Model& model, DimValues given);

/// Fills a bound instance: floats from N(0, 1), lengths (names with "len") as large as the
/// program's own check lets them be, other integers uniform below what it lets pass.
void fill_random(Instance& instance, std::uint64_t seed);

/// Runs every program once to warm up, then at least 5 times and for at least 0.3 s (at most 200
/// times), with parameters drawn from seed 1.
std::vector<ProgramTime> bench_model(const Model& model, const DimValues& dims);

/// A table for people, or {"model","threads","dims","results"}.
std::string bench_text(const Model& model, const DimValues& dims,
                       const std::vector<ProgramTime>& times);
Json bench_json(const Model& model, const DimValues& dims, const std::vector<ProgramTime>& times);

}  // namespace fovea::runtime
