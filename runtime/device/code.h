// The code of a model for devices: PTX text for some architectures, how its entries are launched,
// and the steps of the model's programs. Plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../dtype.h"
#include "../memory/extent.h"
#include "../program.h"

namespace fovea::runtime::device {

/// ceil(extent / tile) blocks.
struct GridFactor {
    Extent extent = 1;
    std::int64_t tile = 1;
};

/// A tensor in a buffer, copied in boxes. Axis 0 is the innermost: its elements lie side by side.
struct TensorMap {
    struct Axis {
        Extent extent = 1, stride = 1;  // elements
        int box = 1;                    // positions that one copy takes
    };
    int buffer = 0;     // of the kernel
    Extent offset = 0;  // elements before the tensor
    std::vector<Axis> axes = {};
    int swizzle = 0;  // bytes: 0, 32, 64 or 128
    bool rounds_to_tf32 = false;  // float32 on its way
};

/// Whether a launch is left out: it takes sizes from `least` to `most`, and others take the rest.
struct LaunchRange {
    Extent extent = 0;
    std::int64_t least = 0, most = INT64_MAX;
};

/// One launch of an entry, of the product of its grid's blocks. Its arguments have 64 bits each:
/// the addresses of the kernel's buffers, the sizes of its dims, and where it draws random numbers
/// the address of two words, seed and step, and the sites of its draws. Behind them are tensor
/// maps, of 128 bytes each.
struct Launch {
    std::string entry;
    std::vector<GridFactor> grid = {};
    int threads = 128;
    int shared_bytes = 0;  // dynamic shared memory
    std::vector<TensorMap> maps = {};
    LaunchRange range = {};
};

struct KernelBuffer {
    DType dtype = DType::f32;
    bool written = false;
};

struct Scan;

/// Launches one after the other, or a scan.
struct Kernel {
    std::string name;
    std::vector<KernelBuffer> buffers = {};
    std::vector<int> dims = {};  // numbers of the model's
    int sites = 0;  // at which it draws random numbers
    std::vector<Launch> launches = {};
    std::shared_ptr<const Scan> scan = nullptr;
};

/// The elements of buffer `buffer` from offset + number of the step * step on.
struct Place {
    int buffer = 0;
    Extent offset = 0, step = 0;
};

struct ScanCall {
    int kernel = 0;                // into Scan::kernels
    std::vector<Place> arguments;  // for its buffers
};

/// `size` elements, copied before the first step; zeros where `from` has no buffer (-1).
struct ScanStart {
    Place from, to;
    Extent size = 0;
};

/// Kernels that run in the order of `calls`, once for each of `count` steps; with `chunk` > 0, of
/// so many positions of `count` at a time, the last step of the rest: dim `positions`.
struct Scan {
    Extent count = 0;
    std::int64_t chunk = 0;
    int positions = -1;
    bool reverse = false;  // from the last step to the first
    std::vector<Kernel> kernels;
    std::vector<ScanCall> calls;
    std::vector<ScanStart> starts;
};

/// The kernels of a model for one architecture.
struct Module {
    std::string architecture;  // sm_80, sm_90, sm_90a
    std::string text;          // PTX
    std::vector<Kernel> kernels;
};

/// One run of a kernel: arguments[i] is the number, as in Call::tensors, of its buffer i.
struct Step {
    int kernel = 0;  // into Module::kernels
    std::vector<int> arguments;
    std::vector<int> sites = {};  // as many as the kernel draws at
};

/// The steps of the program of this name, and the buffers that they work in: a program may have
/// others on this machine's cores, where it stores other tensors as bfloat16, or none.
struct Steps {
    std::string program;
    std::vector<BufferSpec> buffers;
    std::vector<Step> prepare;  // what depends on dims and parameters alone
    std::vector<Step> steps;
};

struct Code {
    /// Names, as extents number them: those of the model, then those of the optimizer's kernels.
    std::vector<std::string> dims;
    std::vector<Module> modules;  // one for each architecture
    std::vector<Steps> programs;
};

}  // namespace fovea::runtime::device
