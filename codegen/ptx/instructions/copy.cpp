// cp.async: copies of 4 to 16 bytes by each thread, waited for in groups or through an mbarrier.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "codegen/ptx/instructions/arithmetic.h"
#include "codegen/ptx/instructions/asynchronous.h"

namespace fovea::ptx {

namespace {

void move_bytes(Warp& warp, Copy& copy) {
    std::byte* to = warp.block.shared_memory.data() + copy.to;
    if (copy.from_bytes) {
        const Memory::Buffer* buffer = warp.block.machine.memory.find(copy.from);
        std::memcpy(to, buffer->host + (copy.from - buffer->address), copy.from_bytes);
    }
    std::fill_n(to + copy.from_bytes, copy.bytes - copy.from_bytes, std::byte{0});
    copy.landed = true;
}

/// Sources: the two addresses, and how many bytes are read, the others being zero.
void issue_copy(Warp& warp, const Op& op, Mask mask) {
    const auto bytes = std::uint32_t(op.immediate);
    for_lanes(mask, [&](int lane) {
        Copy copy{.lane = lane,
                  .group = warp.copy_groups[std::size_t(lane)],
                  .to = std::uint32_t(warp.address(op.source(0), lane) & ~kWindowMask),
                  .bytes = bytes,
                  .from = warp.address(op.source(1), lane),
                  .from_bytes = warp.lanes<std::uint32_t>(op.source(2))[lane],
                  .landed = false};
        if (copy.to % bytes || copy.from % bytes)
            warp.fail(FaultKind::alignment, lane,
                      fmt::format("an asynchronous copy of {} bytes from {:#x} to shared address "
                                  "{:#x}",
                                  bytes, copy.from, copy.to));
        if (copy.from_bytes > bytes)
            warp.fail(
                FaultKind::bounds, lane,
                fmt::format("an asynchronous copy of {} bytes reads {}", bytes, copy.from_bytes));
        if (copy.from_bytes)
            warp.block.global(warp, lane, copy.from, copy.from_bytes, Intent::read, nullptr, 1);
        warp.block.begin_writes(warp, lane, copy.to, bytes);
        if (warp.block.at_once()) move_bytes(warp, copy);
        warp.copies.push_back(copy);
    });
}

void commit_copies(Warp& warp, const Op&, Mask mask) {
    for_lanes(mask, [&](int lane) { ++warp.copy_groups[std::size_t(lane)]; });
}

void wait_group(Warp& warp, const Op& op, Mask mask) {
    finish_copies(warp, mask, std::uint32_t(op.immediate));
}

void wait_all(Warp& warp, const Op&, Mask mask) { finish_copies(warp, mask, std::nullopt); }

/// An arrival at an mbarrier once the copies of the lane have ended.
template <bool kCounted>
void arrive_after(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const auto address = std::uint32_t(warp.address(op.source(), lane) & ~kWindowMask);
        MBarrier& barrier = mbarrier_at(warp, lane, address);
        if (!kCounted) ++barrier.pending;
        Landing landing{
            .kind = Landing::Kind::copies_done, .barrier = address, .warp = &warp, .lane = lane};
        if (warp.block.at_once()) land(warp.block, landing);
        else warp.block.landings.push_back(std::move(landing));
    });
}

/// cp.async.{ca,cg}.shared.global [to], [from], bytes, or with the bytes that are read.
void decode_copy(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    if (!modifiers.take("ca") && !modifiers.take("cg")) decoder.fail("cp.async without .ca or .cg");
    modifiers.space();
    modifiers.space();
    const bool hinted = modifiers.take("L2::cache_hint");
    modifiers.take_prefix("L2::");
    const std::size_t count = at.size() - (hinted ? 1 : 0);
    if (count != 3 && count != 4) decoder.require(instruction, 4);
    const std::int64_t bytes = decoder.integer(at[2]);
    if (bytes != 4 && bytes != 8 && bytes != 16) decoder.fail("cp.async copies 4, 8 or 16 bytes");
    const Slot read = count == 4 ? decoder.source(at[3], Type::u32)
                                 : decoder.constant(std::uint64_t(bytes), Type::u32);
    decoder
        .emit(instruction, issue_copy, {},
              {decoder.whole_address(at[0]), decoder.whole_address(at[1]), read})
        .immediate = bytes;
}

void decode_cp(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    if (!modifiers.take("async")) decoder.fail("only cp.async is interpreted");
    if (modifiers.take("bulk")) return decode_bulk(decoder, instruction, modifiers);
    if (modifiers.take("commit_group")) {
        decoder.emit(instruction, commit_copies, {}, {});
    } else if (modifiers.take("wait_all")) {
        decoder.emit(instruction, wait_all, {}, {});
    } else if (modifiers.take("wait_group")) {
        decoder.require(instruction, 1);
        decoder.emit(instruction, wait_group, {}, {}).immediate = decoder.integer(at[0]);
    } else if (modifiers.take("mbarrier")) {
        modifiers.take("arrive");
        const bool counted = modifiers.take("noinc");
        modifiers.space();
        modifiers.take("b64");
        decoder.require(instruction, 1);
        decoder.emit(instruction, counted ? arrive_after<true> : arrive_after<false>, {},
                     {decoder.whole_address(at[0])});
    } else {
        decode_copy(decoder, instruction, modifiers);
    }
}

}  // namespace

void finish_copies(Warp& warp, Mask lanes, std::optional<std::uint32_t> groups_left) {
    std::vector<Copy> kept, done;
    for (const Copy& copy : warp.copies) {
        const std::uint32_t groups = warp.copy_groups[std::size_t(copy.lane)];
        const bool waited =
            (lanes >> copy.lane & 1) && (!groups_left || copy.group + *groups_left < groups);
        (waited ? done : kept).push_back(copy);
    }
    warp.copies = std::move(kept);
    if (warp.block.machine.schedule.copies == Schedule::Copies::last_in)
        std::reverse(done.begin(), done.end());
    for (Copy& copy : done) {
        if (!copy.landed) move_bytes(warp, copy);
        warp.block.end_writes(warp.agent, copy.lane, copy.to, copy.bytes);
    }
}

void add_copy(OpcodeTable& table) { table["cp"] = decode_cp; }

}  // namespace fovea::ptx
