#include "tools/fovea/device/interpreter_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "codegen/base/error.h"

namespace fovea::tool {

using runtime::device::LaunchCall;
using runtime::device::Region;

std::string InterpreterDevice::choose(std::span<const std::string> architectures) const {
    return architectures.empty() ? "" : architectures.back();
}

int InterpreterDevice::load(const std::string& text) {
    modules_.push_back(ptx::parse(text));
    return int(modules_.size()) - 1;
}

InterpreterDevice::Address InterpreterDevice::allocate(std::size_t bytes) {
    const Address address = next_;
    blocks_[address].assign(bytes, std::byte(0xff));
    next_ = (address + bytes + 0x1000) / 0x100 * 0x100;
    return address;
}

void InterpreterDevice::release(Address address) noexcept { blocks_.erase(address); }

std::byte* InterpreterDevice::host(Address address, std::size_t bytes) {
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin())
        throw InternalError(fmt::format("no memory of the device is at {:#x}", address));
    --block;
    const std::uint64_t offset = address - block->first;
    if (offset + bytes > block->second.size())
        throw InternalError(
            fmt::format("{} bytes at {:#x} of the device lie outside of the {} "
                        "bytes at {:#x}",
                        bytes, address, block->second.size(), block->first));
    return block->second.data() + offset;
}

void InterpreterDevice::copy_in(Address to, const void* from, std::size_t bytes) {
    std::memcpy(host(to, bytes), from, bytes);
}

void InterpreterDevice::copy_out(void* to, Address from, std::size_t bytes) {
    std::memcpy(to, host(from, bytes), bytes);
}

void InterpreterDevice::copy(Address to, Address from, std::size_t bytes) {
    std::memmove(host(to, bytes), host(from, bytes), bytes);
}

void InterpreterDevice::clear(Address to, std::size_t bytes) {
    std::memset(host(to, bytes), 0, bytes);
}

namespace {

std::array<std::byte, 128> tensor_map(const runtime::device::MappedTensor& tensor) {
    if (tensor.is_empty()) return {};
    ptx::TensorMap map{.address = tensor.address,
                       .rank = std::uint32_t(tensor.axes.size()),
                       .element_bytes = std::uint32_t(size_of(tensor.dtype)),
                       .swizzle = std::uint32_t(tensor.swizzle),
                       .rounds_to_tf32 = tensor.rounds_to_tf32};
    for (std::size_t i = 0; i < tensor.axes.size(); ++i) {
        map.extents[i] = tensor.axes[i].extent;
        map.strides[i] = tensor.axes[i].stride;
        map.box[i] = tensor.axes[i].box;
    }
    return ptx::encode(map);
}

}  // namespace

void InterpreterDevice::launch(const LaunchCall& call) {
    const auto module = std::find_if(modules_.begin(), modules_.end(), [&](const ptx::Module& m) {
        const bool is_asked_for = call.module == runtime::device::kAnyModule ||
                                  &m == &modules_.at(std::size_t(call.module));
        return is_asked_for && m.kernels.contains(call.entry);
    });
    if (module == modules_.end())
        throw InternalError(fmt::format("no module has the entry '{}'", call.entry));
    ptx::Memory memory;
    for (const Region& region : call.memory)
        if (region.bytes)
            memory.add_at(region.address, host(region.address, region.bytes), region.bytes,
                          region.written);
    ptx::Launch launch;
    launch.grid[0] = std::uint32_t(call.blocks);
    launch.block[0] = std::uint32_t(call.threads);
    launch.dynamic_shared_bytes = std::uint32_t(call.shared_bytes);
    for (std::uint64_t argument : call.arguments)
        launch.arguments.push_back(ptx::argument(argument));
    for (const runtime::device::MappedTensor& tensor : call.tensors)
        launch.arguments.push_back(ptx::argument(tensor_map(tensor)));
    const ptx::Schedule& schedule = schedules_[launches_++ % schedules_.size()];
    try {
        instructions_ += ptx::interpret(*module, call.entry, launch, memory, schedule);
    } catch (const ptx::Fault& fault) {
        throw InternalError(fmt::format("kernel {}: {}", call.kernel, fault.what()));
    }
}

}  // namespace fovea::tool
