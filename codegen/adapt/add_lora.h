// Low-rank adaptation of a model (Hu et al. 2021): its parameters are kept as they are, and its
// linear layers get a pair of small matrices each, which are trained.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

struct Lora {
    int rank = 8;
    double alpha = 16;  // the product of a pair is times alpha / rank
};

/// x Wᵀ of each linear layer becomes x Wᵀ + alpha / rank · (x Aᵀ) Bᵀ, with parameters
/// `MODULE.lora_A.weight` [rank, in], which start as PEFT's do, and `MODULE.lora_B.weight`
/// [out, rank], which start as zeros; all others are frozen. A linear layer is a product with a
/// parameter [out, in] (or [in, out]) that nothing else reads, but for those that no other product
/// with a parameter depends on: heads.
Graph add_lora(const Graph& graph, const Lora& lora);

/// A program of `graph`, without pairs: for each of these parameters an output of its name, the
/// parameter with its pair taken in.
Graph merge_lora(const Graph& graph, const Lora& lora);

/// Why `graph` has no layer that takes a pair, where it has none.
std::optional<std::string> why_no_lora(const Graph& graph);

}  // namespace fovea
