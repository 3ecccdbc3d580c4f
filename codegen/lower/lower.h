// The fused graph as kernels: one or more for each group, over numbered memories.
#pragma once

#include <string>
#include <vector>

#include "codegen/fuse/fuse.h"
#include "codegen/kernel/kernel.h"
#include "codegen/target/lowering.h"

namespace fovea::lower {

/// Something with an address: a leaf, a stored value, or a parameter laid out anew.
struct Memory {
    int node = -1;            // whose value it is, with the shape of that node; -1: scratch
    bool transposed = false;  // a copy of a matrix parameter, as contractions read it
    bool parts = false;  // of sums over rows or positions, each of a block of them
    std::string name;
    DType dtype = DType::f32;
    std::vector<Dim> shape;
    WeightStorage storage{};
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

/// With `tf32`, products of float32 may round their operands to it.
Lowered lower(const Graph& graph, const fuse::FusedGraph& fused, const target::Lowering& target,
              bool tf32 = false);

}  // namespace fovea::lower
