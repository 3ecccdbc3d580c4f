// The fused graph as kernels: one or more for each group, over numbered memories.
#pragma once

#include <string>
#include <vector>

#include "codegen/fuse/fuse.h"
#include "codegen/kernel/kernel.h"

namespace fovea::lower {

/// Something with an address: a leaf, a stored value, or a parameter laid out anew.
struct Memory {
    int node = -1;            // whose value it is, with the shape of that node; -1: scratch
    bool transposed = false;  // a copy of a matrix parameter, as contractions read it
    bool parts = false;  // of sums over rows or positions, each of a block of them
    std::string name;
    DType dtype = DType::f32;
    std::vector<Dim> shape;
};

/// One kernel; `memories[i]` is the memory of its buffer i.
struct LoweredKernel {
    kernel::Kernel kernel;
    std::vector<int> memories;
    bool prepared = false;
};

struct Lowered {
    std::vector<Memory> memories;
    std::vector<LoweredKernel>
        kernels;  // in the order they run (prepared ones first or among them)
};

/// How programs in bfloat16 lay out the matrices among their parameters for products: pairs of
/// columns in panels of rows, as a CPU multiplies them, or rounded as they are.
enum class Weights { in_pairs, as_they_are };

/// What is asked of all kernels.
struct Choices {
    int row_blocks = kernel::kRowBlocks;  // that sums over rows are split into
    int product_blocks = 1;  // of the summed axis (split K), where results are few
    Weights weights = Weights::in_pairs;
    bool tf32 = false;  // products of float32 may round their operands to tf32
    /// Gradients of attention are a kernel over tiles of keys and one over tiles of queries, none
    /// of which waits for another; else one kernel, whose tiles of keys add to the gradient of the
    /// queries in order, with five products instead of seven.
    bool independent_tiles = false;
};

Lowered lower(const Graph& graph, const fuse::FusedGraph& fused, const Choices& choices = {});

}  // namespace fovea::lower
