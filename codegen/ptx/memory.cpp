// Buffers by address.
#include "codegen/ptx/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/base/error.h"

namespace fovea::ptx {

std::uint64_t Memory::place(std::byte* host, std::uint64_t bytes, bool writable) {
    const std::uint64_t address = next_;
    add_at(address, host, bytes, writable);
    next_ = (address + bytes + 0x1000) / 0x100 * 0x100;
    return address;
}

void Memory::add_at(std::uint64_t address, std::byte* host, std::uint64_t bytes, bool writable) {
    const auto after = std::upper_bound(
        buffers_.begin(), buffers_.end(), address,
        [](std::uint64_t value, const Buffer& buffer) { return value < buffer.address; });
    const bool over_next = after != buffers_.end() && address + bytes > after->address;
    const bool over_last =
        after != buffers_.begin() && std::prev(after)->address + std::prev(after)->bytes > address;
    if (over_next || over_last)
        throw UserError(
            fmt::format("the buffer of {} bytes at {:#x} overlaps another", bytes, address));
    buffers_.insert(after, {address, host, bytes, writable});
}

const Memory::Buffer* Memory::find(std::uint64_t address) const {
    const auto after = std::upper_bound(
        buffers_.begin(), buffers_.end(), address,
        [](std::uint64_t value, const Buffer& buffer) { return value < buffer.address; });
    if (after == buffers_.begin()) return nullptr;
    const Buffer& buffer = *std::prev(after);
    return address - buffer.address < buffer.bytes ? &buffer : nullptr;
}

}  // namespace fovea::ptx
