// Launches with their arguments; a scan calls its kernels with places inside its own buffers.
#include "run_kernel.h"

#include <algorithm>

#include "../error.h"

namespace fovea::runtime::device {
namespace {

/// Blocks along x: a launch takes no more.
constexpr std::int64_t kMostBlocks = 0x7fffffff;

std::int64_t blocks_of(const Kernel& kernel, const Launch& launch,
                       std::span<const std::int64_t> dims) {
    const std::int64_t size = launch.range.extent.value(dims);
    if (size < launch.range.least || size > launch.range.most) return 0;
    std::int64_t blocks = 1;
    for (const GridFactor& factor : launch.grid) {
        const std::int64_t extent = factor.extent.value(dims);
        const std::int64_t parts = extent <= 0 ? 0 : (extent - 1) / factor.tile + 1;
        if (__builtin_mul_overflow(blocks, parts, &blocks) || blocks > kMostBlocks)
            throw UserError("kernel " + kernel.name + " takes more than " +
                            std::to_string(kMostBlocks) + " blocks, the most that a launch has; " +
                            "take a smaller batch");
    }
    return blocks;
}

/// What the map of a tensor can hold: positions have 31 bits, strides 40.
constexpr std::int64_t kMostPositions = 0x7fffffff, kLargestStride = (std::int64_t(1) << 40) - 1;

MappedTensor mapped(const Kernel& kernel, const TensorMap& map, std::span<const Address> addresses,
                    std::span<const std::int64_t> dims) {
    const auto buffer = static_cast<std::size_t>(map.buffer);
    const DType dtype = kernel.buffers[buffer].dtype;
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    const auto start = static_cast<std::uint64_t>(map.offset.value(dims) * size);
    MappedTensor result{addresses[buffer] + start, dtype, {}, map.swizzle, map.rounds_to_tf32};
    for (const TensorMap::Axis& axis : map.axes) {
        const std::int64_t extent = axis.extent.value(dims),
                           stride = axis.stride.value(dims) * size;
        if (extent > kMostPositions || stride > kLargestStride)
            throw UserError("kernel " + kernel.name + " copies from a tensor with an axis of " +
                            std::to_string(extent) + " positions, " + std::to_string(stride) +
                            " bytes apart, more than the GPU's copies take; take a smaller batch");
        result.axes.push_back({static_cast<std::uint64_t>(extent),
                               static_cast<std::uint64_t>(stride),
                               static_cast<std::uint32_t>(axis.box)});
    }
    return result;
}

/// Every region once.
std::vector<Region> distinct(std::span<const Region> buffers) {
    std::vector<Region> regions;
    for (const Region& buffer : buffers) {
        const auto same = std::find_if(regions.begin(), regions.end(), [&](const Region& region) {
            return region.address == buffer.address && region.bytes == buffer.bytes;
        });
        if (same == regions.end()) regions.push_back(buffer);
        else same->written = same->written || buffer.written;
    }
    return regions;
}

class KernelRun {
  public:
    KernelRun(Device& device, std::span<const std::int64_t> dims, const Draws& draws, int module)
        : device_(device), dims_(dims), draws_(draws), module_(module) {}

    void launch(const Kernel& kernel, std::span<const Address> addresses,
                std::span<const Region> memory) const {
        std::vector<std::uint64_t> arguments(addresses.begin(), addresses.end());
        for (int dim : kernel.dims)
            arguments.push_back(static_cast<std::uint64_t>(dims_[static_cast<std::size_t>(dim)]));
        std::vector<Region> regions(memory.begin(), memory.end());
        if (kernel.sites > 0) {
            if (draws_.sites.size() != static_cast<std::size_t>(kernel.sites))
                throw InternalError("kernel " + kernel.name + " draws at " +
                                    std::to_string(kernel.sites) + " sites and is given " +
                                    std::to_string(draws_.sites.size()));
            arguments.push_back(draws_.key);
            for (int site : draws_.sites) arguments.push_back(static_cast<std::uint64_t>(site));
            regions.push_back({draws_.key, 2 * sizeof(std::uint64_t), false});
        }
        for (const Launch& launch : kernel.launches) {
            const std::int64_t blocks = blocks_of(kernel, launch, dims_);
            if (blocks == 0) continue;
            std::vector<MappedTensor> tensors;
            for (const TensorMap& map : launch.maps)
                tensors.push_back(mapped(kernel, map, addresses, dims_));
            device_.launch({kernel.name, launch.entry, blocks, launch.threads, launch.shared_bytes,
                            arguments, regions, tensors, module_});
        }
    }

    void scan(const Kernel& kernel, std::span<const Address> buffers,
              std::span<const Region> memory) const {
        const Scan& scan = *kernel.scan;
        for (const ScanStart& start : scan.starts) {
            const DType dtype = kernel.buffers[static_cast<std::size_t>(start.to.buffer)].dtype;
            const auto bytes = static_cast<std::size_t>(start.size.value(dims_)) * size_of(dtype);
            const Address to = address_of(start.to, kernel, buffers, 0);
            if (start.from.buffer < 0) device_.clear(to, bytes);
            else device_.copy(to, address_of(start.from, kernel, buffers, 0), bytes);
        }
        const std::int64_t count = scan.count.value(dims_);
        if (scan.chunk > 0) return chunks(kernel, buffers, memory, count);
        for (std::int64_t i = 0; i < count; ++i)
            step(kernel, buffers, memory, scan.reverse ? count - 1 - i : i);
    }

  private:
    /// Each step with the size of its chunk among the dims.
    void chunks(const Kernel& kernel, std::span<const Address> buffers,
                std::span<const Region> memory, std::int64_t count) const {
        const Scan& scan = *kernel.scan;
        const auto size = static_cast<std::size_t>(scan.positions);
        std::vector<std::int64_t> dims(dims_.begin(), dims_.end());
        if (dims.size() <= size) dims.resize(size + 1);
        for (std::int64_t i = 0; i * scan.chunk < count; ++i) {
            dims[size] = std::min(scan.chunk, count - i * scan.chunk);
            KernelRun(device_, dims, draws_, module_).step(kernel, buffers, memory, i);
        }
    }
    void step(const Kernel& kernel, std::span<const Address> buffers,
              std::span<const Region> memory, std::int64_t number) const {
        for (const ScanCall& call : kernel.scan->calls) {
            const Kernel& called = kernel.scan->kernels[static_cast<std::size_t>(call.kernel)];
            std::vector<Address> addresses;
            for (const Place& place : call.arguments)
                addresses.push_back(address_of(place, kernel, buffers, number));
            if (called.scan) scan(called, addresses, memory);
            else launch(called, addresses, memory);
        }
    }
    Address address_of(const Place& place, const Kernel& kernel, std::span<const Address> buffers,
                       std::int64_t step) const {
        const auto buffer = static_cast<std::size_t>(place.buffer);
        const std::int64_t elements = place.offset.value(dims_) + step * place.step.value(dims_);
        return buffers[buffer] +
               static_cast<std::uint64_t>(elements) * size_of(kernel.buffers[buffer].dtype);
    }

    Device& device_;
    std::span<const std::int64_t> dims_;
    const Draws& draws_;
    int module_;
};

}  // namespace

void run_kernel(Device& device, const Kernel& kernel, std::span<const Region> buffers,
                std::span<const std::int64_t> dims, const Draws& draws, int module) {
    const KernelRun run(device, dims, draws, module);
    std::vector<Address> addresses;
    for (const Region& buffer : buffers) addresses.push_back(buffer.address);
    if (kernel.scan) return run.scan(kernel, addresses, distinct(buffers));
    run.launch(kernel, addresses, distinct(buffers));
}

}  // namespace fovea::runtime::device
