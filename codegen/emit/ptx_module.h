// PTX text with all that a host needs to launch it: plain data, free of LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/base/dim.h"
#include "codegen/kernel/kernel.h"

namespace fovea::emit {

/// ceil(extent / tile) blocks along one axis.
struct GridFactor {
    Dim extent{1};
    std::int64_t tile = 1;
};

/// A tensor that copies of the GPU read in boxes (cuTensorMapEncodeTiled): a whole buffer, or a
/// part of one, of the buffer's type. The start and the strides are multiples of 16 bytes, and a
/// row of the box is one too, of `swizzle` bytes where there is a swizzle.
struct TensorMap {
    struct Axis {
        Dim extent{1};
        Dim stride{1};  // elements from one position to the next; 1 along axis 0
        int box = 1;    // positions that one copy takes, at most 256
    };
    int buffer = 0;          // of the kernel
    Dim offset{0};           // elements of the buffer before the tensor
    std::vector<Axis> axes;  // 2 to 5, the innermost first
    int swizzle = 0;         // bytes: 0, 32, 64 or 128
    bool rounds_to_tf32 = false;  // float32 on its way
};

/// The launch is one of several, of which each takes some sizes: where `extent` is at least `least`
/// and at most `most`.
struct LaunchRange {
    Dim extent{0};
    std::int64_t least = 0, most = INT64_MAX;
};

/// One launch of an entry. Its parameters: a 64-bit address for each buffer of the kernel, in
/// their order; a 64-bit value for each symbol of the kernel's dims, in the order of `symbols_of`
/// (sorted by name); where the kernel draws random numbers, the 64-bit address of two 64-bit
/// words, the seed and the step, and a 64-bit value for each of its sites, in the order of
/// `sites_of`; and for each of `maps` its 128 bytes, at a multiple of 64. The map of a tensor
/// without elements is zeros, and no copy may use it.
struct PtxLaunch {
    std::string entry;  // name in the module
    std::vector<GridFactor> grid;  // blocks along x are the product; no blocks: nothing to do
    int threads = 128;  // of a block, along x
    int shared_bytes = 0;  // dynamic shared memory
    std::vector<TensorMap> maps = {};
    LaunchRange range = {};
    /// For the reader, where there are several ways to compute it: which one this is, and why it is
    /// not the next better one.
    std::string form = {};
};

/// A kernel of the model as launches, one after the other.
struct PtxKernel {
    std::string name;
    std::vector<PtxLaunch> launches;
    /// A scan: instead of launches, one PtxKernel for each of `kernel::Steps::kernels`, which the
    /// host calls as `kernel::Steps` says.
    std::vector<PtxKernel> steps;
};

/// Kernels of a model for one architecture; kernels[i] is number i of `plan::Model::kernels`.
struct PtxModule {
    std::string architecture;  // sm_80, sm_90, sm_90a
    std::string text;
    std::vector<PtxKernel> kernels;
};

}  // namespace fovea::emit
