// The suites of `fovea bench`. Each is one generated program (the models two), built and compiled
// as `fovea build` does it, and run at several sizes.
#pragma once

#include <string>
#include <vector>

#include "tools/fovea/bench/stopwatch.h"

namespace fovea::tool {

/// Matrix products C[m, n] = Σ A[m, k] B[k, n] (`transposed`: B[n, k]). K and N are static, as the
/// widths of layers are; the rows are a symbolic dim, as batches and lengths are.
std::vector<BenchRow> bench_contraction(Bench& bench);

/// Attention by score and mask, forward and backward. Heads and widths are static.
std::vector<BenchRow> bench_attention(Bench& bench);

/// Softmax, layer norm and their kin, which read and write more than they compute.
std::vector<BenchRow> bench_rowwise(Bench& bench);

/// Training steps, a forward pass and greedy decoding of the built-in Transformer.
std::vector<BenchRow> bench_models(Bench& bench);

struct Suite {
    const char* name;
    std::vector<BenchRow> (*run)(Bench&);
};
inline constexpr Suite kSuites[] = {{"contraction", bench_contraction},
                                    {"attention", bench_attention},
                                    {"rowwise", bench_rowwise},
                                    {"models", bench_models}};

}  // namespace fovea::tool
