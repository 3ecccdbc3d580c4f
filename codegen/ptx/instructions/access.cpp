// From an address to the host's bytes: bounds, alignment, permission, races.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "codegen/ptx/machine.h"

namespace fovea::ptx {
namespace {

bool undefined(const std::vector<std::uint8_t>& defined, std::uint64_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i)
        if (!defined[at + i]) return true;
    return false;
}

}  // namespace

void Block::check(const Warp& warp, int lane, std::uint64_t address, std::uint32_t bytes,
                  Conflict conflict, bool in_shared) const {
    if (conflict == Conflict::none) return;
    warp.fail(FaultKind::race, lane,
              fmt::format("{} bytes at {} address {:#x}: {}", bytes,
                          in_shared ? "shared" : "global", address, text_of(conflict)));
}

std::byte* Block::access(Warp& warp, int lane, Space space, std::uint64_t address,
                         std::uint32_t bytes, Intent intent, const void* value) {
    if (space == Space::generic) {
        const std::uint64_t window = address & kWindowMask;
        if (window == kSharedWindow) space = Space::shared;
        else if (window == kLocalWindow) space = Space::local;
        else if (window == kParamWindow) space = Space::param;
        else space = Space::global;
        if (space != Space::global) address &= ~kWindowMask;
    }
    if (space == Space::shared) return shared(warp, lane, address, bytes, intent, value);
    if (space == Space::global || space == Space::constant)
        return global(warp, lane, address, bytes, intent, value);
    const bool local = space == Space::local;
    const std::uint64_t size = local ? machine.program.local_bytes : machine.parameters.size();
    if (address % bytes)
        warp.fail(FaultKind::alignment, lane, fmt::format("{} bytes at {:#x}", bytes, address));
    if (address + bytes > size || address + bytes < address)
        warp.fail(FaultKind::bounds, lane,
                  fmt::format("{} bytes at {:#x} of {} memory of {} bytes", bytes, address,
                              local ? "local" : "parameter", size));
    if (!local && (intent == Intent::write || intent == Intent::atomic))
        warp.fail(FaultKind::read_only, lane, "a write to the parameters");
    std::byte* base = local ? local_memory.data() + std::size_t(warp.number * kLanes + lane) * size
                            : machine.parameters.data();
    return base + address;
}

std::byte* Block::shared_bytes(const Warp& warp, int lane, std::uint64_t address,
                               std::uint32_t bytes) {
    if (address + bytes > shared_memory.size() || address + bytes < address)
        warp.fail(FaultKind::bounds, lane,
                  fmt::format("{} bytes at {:#x} of shared memory of {} bytes", bytes, address,
                              shared_memory.size()));
    return shared_memory.data() + address;
}

std::byte* Block::shared(Warp& warp, int lane, std::uint64_t address, std::uint32_t bytes,
                         Intent intent, const void* value) {
    std::byte* host = shared_bytes(warp, lane, address, bytes);
    if (address % bytes)
        warp.fail(FaultKind::alignment, lane,
                  fmt::format("{} bytes at shared address {:#x}", bytes, address));
    if (machine.launch.shared_races && intent != Intent::peek) {
        if (intent == Intent::read) {
            check(warp, lane, address, bytes, shared_shadow.read(warp.agent, lane, address, bytes),
                  true);
        } else {
            const Conflict conflict =
                shared_shadow.write(warp.agent, lane, address, bytes, intent == Intent::atomic);
            const bool same = conflict == Conflict::written_by_warp && value &&
                              std::memcmp(host, value, bytes) == 0;
            if (same) shared_shadow.overwrite(warp.agent, lane, address, bytes);
            else check(warp, lane, address, bytes, conflict, true);
        }
    }
    if (intent == Intent::write)
        std::fill_n(shared_defined.begin() + std::ptrdiff_t(address), bytes, 1);
    else if (machine.launch.uninitialised_shared && undefined(shared_defined, address, bytes))
        warp.fail(FaultKind::uninitialised, lane,
                  fmt::format("{} bytes at shared address {:#x} are read that nothing wrote", bytes,
                              address));
    return host;
}

void Block::begin_reads(Warp& warp, int lane, std::uint32_t address, std::uint32_t bytes) {
    shared_bytes(warp, lane, address, bytes);
    if (machine.launch.uninitialised_shared && undefined(shared_defined, address, bytes))
        warp.fail(FaultKind::uninitialised, lane,
                  fmt::format("{} bytes at shared address {:#x} are read that nothing wrote", bytes,
                              address));
    if (!machine.launch.shared_races) return;
    check(warp, lane, address, bytes,
          shared_shadow.begin_read(warp.agent, lane, address, bytes, {proxy_fences, warp.fenced}),
          true);
}

void Block::end_reads(const Agent& reader, int lane, std::uint32_t address, std::uint32_t bytes) {
    if (machine.launch.shared_races) shared_shadow.end_read(reader, lane, address, bytes);
}

void Block::begin_writes(Warp& warp, int lane, std::uint32_t address, std::uint32_t bytes) {
    shared_bytes(warp, lane, address, bytes);
    if (machine.launch.shared_races)
        check(warp, lane, address, bytes,
              shared_shadow.begin_write(warp.agent, lane, address, bytes), true);
}

void Block::end_writes(const Agent& writer, int lane, std::uint32_t address, std::uint32_t bytes) {
    std::fill_n(shared_defined.begin() + std::ptrdiff_t(address), bytes, 1);
    if (machine.launch.shared_races) shared_shadow.end_write(writer, lane, address, bytes);
}

const Memory::Buffer& Block::buffer(Warp& warp, int lane, std::uint64_t address,
                                    std::uint32_t bytes) {
    const auto& buffers = machine.memory.buffers();
    const auto holds = [&](const Memory::Buffer& buffer) {
        return address >= buffer.address && address - buffer.address + bytes <= buffer.bytes;
    };
    if (last_buffer_ < buffers.size() && holds(buffers[last_buffer_])) return buffers[last_buffer_];
    const Memory::Buffer* found = machine.memory.find(address);
    if (!found)
        warp.fail(FaultKind::bounds, lane,
                  fmt::format("{} bytes at {:#x} lie in no buffer", bytes, address));
    if (!holds(*found))
        warp.fail(FaultKind::bounds, lane,
                  fmt::format("{} bytes at byte {} of a buffer of {} bytes", bytes,
                              address - found->address, found->bytes));
    last_buffer_ = std::size_t(found - buffers.data());
    return *found;
}

std::byte* Block::global(Warp& warp, int lane, std::uint64_t address, std::uint32_t bytes,
                         Intent intent, const void* value, std::uint32_t alignment) {
    const Memory::Buffer& found = buffer(warp, lane, address, bytes);
    if (address % (alignment ? alignment : bytes))
        warp.fail(FaultKind::alignment, lane,
                  fmt::format("{} bytes at global address {:#x}", bytes, address));
    if ((intent == Intent::write || intent == Intent::atomic) && !found.writable)
        warp.fail(FaultKind::read_only, lane,
                  fmt::format("a write to byte {} of a buffer that is only read",
                              address - found.address));
    std::byte* host = found.host + (address - found.address);
    if (!found.writable || !machine.launch.global_races || intent == Intent::peek) return host;
    std::unique_ptr<Shadow>& shadow = machine.shadows[last_buffer_];
    if (!shadow) {
        shadow = std::make_unique<Shadow>(true);
        shadow->resize(found.bytes);
        shadow->start(machine.tick);
    }
    const std::uint64_t at = address - found.address;
    if (intent == Intent::read) {
        check(warp, lane, address, bytes, shadow->read(warp.agent, lane, at, bytes), false);
        return host;
    }
    const Conflict conflict = shadow->write(warp.agent, lane, at, bytes, intent == Intent::atomic);
    const bool same =
        conflict == Conflict::written_by_warp && value && std::memcmp(host, value, bytes) == 0;
    if (same) shadow->overwrite(warp.agent, lane, at, bytes);
    else check(warp, lane, address, bytes, conflict, false);
    return host;
}

}  // namespace fovea::ptx
