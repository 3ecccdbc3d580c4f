// Barrier objects in shared memory: phases of arrivals and of bytes that copies bring.
#include <fmt/format.h>

#include "codegen/ptx/instructions/arithmetic.h"
#include "codegen/ptx/instructions/asynchronous.h"

namespace fovea::ptx {

constexpr std::uint32_t kMBarrierBytes = 8;

namespace {

/// Addresses of shared memory come with the window of generic addresses or without.
std::uint32_t shared_address(Warp& warp, const Slot& slot, int lane) {
    return std::uint32_t(warp.address(slot, lane) & ~kWindowMask);
}

}  // namespace

MBarrier& mbarrier_at(Warp& warp, int lane, std::uint64_t address) {
    const auto found = warp.block.mbarriers.find(std::uint32_t(address));
    if (found == warp.block.mbarriers.end())
        warp.fail(FaultKind::barrier, lane,
                  fmt::format("no mbarrier is initialised at shared address {:#x}", address));
    warp.block.shared(warp, lane, address, kMBarrierBytes, Intent::atomic);
    return found->second;
}

void settle(Block& block, MBarrier& barrier) {
    if (barrier.pending != 0 || barrier.bytes != 0) return;
    ++barrier.phase;
    barrier.pending = barrier.expected;
    join(barrier.completed, barrier.arriving);
    barrier.arriving.clear();
    block.progress();
}

void arrive(Warp& warp, int lane, MBarrier& barrier, std::int64_t count, const Clock& clock) {
    join(barrier.arriving, clock);
    barrier.pending -= count;
    if (barrier.pending < 0)
        warp.fail(FaultKind::barrier, lane,
                  fmt::format("more arrivals at an mbarrier than the {} that it expects",
                              barrier.expected));
    settle(warp.block, barrier);
}

namespace {

void initialise(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const std::uint32_t address = shared_address(warp, op.source(0), lane);
        const std::uint32_t count = warp.lanes<std::uint32_t>(op.source(1))[lane];
        warp.block.shared(warp, lane, address, kMBarrierBytes, Intent::write);
        if (count == 0 || count >= 1u << 20)
            warp.fail(FaultKind::barrier, lane, fmt::format("an mbarrier of {} arrivals", count));
        const auto [object, added] = warp.block.mbarriers.try_emplace(address);
        if (!added) warp.fail(FaultKind::barrier, lane, "an mbarrier is initialised twice");
        object->second.expected = count;
        object->second.pending = count;
        object->second.maker = warp.number;
    });
}

void invalidate(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const std::uint32_t address = shared_address(warp, op.source(0), lane);
        mbarrier_at(warp, lane, address);
        warp.block.shared(warp, lane, address, kMBarrierBytes, Intent::write);
        warp.block.mbarriers.erase(address);
    });
}

enum class Arrival : std::int64_t { plain, expects_bytes, drops };

/// Sources: the object, and a count of arrivals, or of bytes. Result, if any: the phase.
void arrive_lanes(Warp& warp, const Op& op, Mask mask) {
    const auto kind = Arrival(op.extra);
    const Clock clock = warp.agent.publish(mask);
    for_lanes(mask, [&](int lane) {
        MBarrier& barrier = mbarrier_at(warp, lane, shared_address(warp, op.source(0), lane));
        const std::uint32_t count = warp.lanes<std::uint32_t>(op.source(1))[lane];
        if (op.results) warp.set_bits(op.result(), lane, barrier.phase);
        if (kind == Arrival::expects_bytes) barrier.bytes += count;
        if (kind == Arrival::drops) barrier.expected -= count;
        arrive(warp, lane, barrier, kind == Arrival::expects_bytes ? 1 : count, clock);
    });
}

/// expect_tx and complete_tx: the bytes alone.
template <int kSign>
void count_bytes(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        MBarrier& barrier = mbarrier_at(warp, lane, shared_address(warp, op.source(0), lane));
        barrier.bytes += kSign * std::int64_t(warp.lanes<std::uint32_t>(op.source(1))[lane]);
        settle(warp.block, barrier);
    });
}

/// Sources: the object, and the parity of a phase, or the phase that an arrival gave.
template <bool kParity>
void wait_for_barrier(Warp& warp, const Op& op, Mask mask) {
    Mask& to = warp.mask(op.result());
    for_lanes(mask, [&](int lane) {
        MBarrier& barrier = mbarrier_at(warp, lane, shared_address(warp, op.source(0), lane));
        const auto phase = std::uint32_t(warp.bits(op.source(1), lane));
        const bool done = kParity ? (barrier.phase & 1) != (phase & 1) : barrier.phase != phase;
        to = (to & ~(Mask(1) << lane)) | Mask(done) << lane;
    });
    const Mask done = to & mask;
    // Lanes that wait for the same object learn together.
    for (Mask rest = done; rest;) {
        const std::uint32_t address = shared_address(warp, op.source(0), first_lane(rest));
        Mask same = 0;
        for_lanes(rest, [&](int lane) {
            same |= Mask(shared_address(warp, op.source(0), lane) == address) << lane;
        });
        warp.agent.learn(same, warp.block.mbarriers.at(address).completed);
        rest &= ~same;
    }
    if (done != mask) warp.state = State::waiting;
}

void decode_arrive(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers,
                   Arrival kind) {
    const auto& at = instruction.operands;
    if (modifiers.take("expect_tx")) kind = Arrival::expects_bytes;
    modifiers.take("noComplete");
    std::size_t first = at.empty() || at[0].kind == Operand::Kind::address ? 0 : 1;
    if (at.size() <= first) decoder.require(instruction, first + 1);
    std::vector<Slot> results;
    if (first && at[0].kind != Operand::Kind::sink)
        results.push_back(decoder.result(at[0], Type::b64));
    const Slot count = at.size() > first + 1 ? decoder.source(at[first + 1], Type::u32)
                                             : decoder.constant(1, Type::u32);
    decoder.emit(instruction, arrive_lanes, results, {decoder.whole_address(at[first]), count})
        .extra = std::int64_t(kind);
}

void decode_wait(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const bool parity = modifiers.take("parity");
    if (at.size() != 4) decoder.require(instruction, 3);  // a limit of time may follow
    decoder
        .emit(instruction, parity ? wait_for_barrier<true> : wait_for_barrier<false>,
              {decoder.result(at[0], Type::pred)},
              {decoder.whole_address(at[1]), decoder.source(at[2], parity ? Type::u32 : Type::b64)})
        .flow = Flow::may_wait;
}

void decode_mbarrier(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const auto kind = modifiers.take_one(
        {"init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait", "pending_count"});
    const bool expects = !kind && modifiers.take("expect_tx");
    const bool completes = !kind && !expects && modifiers.take("complete_tx");
    modifiers.ignore({"release", "acquire", "relaxed", "cta", "cluster"});
    modifiers.space();
    if (!modifiers.take("b64")) decoder.fail("an mbarrier has 64 bits: .b64");
    if (expects || completes) {
        decoder.require(instruction, 2);
        decoder.emit(instruction, expects ? count_bytes<1> : count_bytes<-1>, {},
                     {decoder.whole_address(at[0]), decoder.source(at[1], Type::u32)});
        return;
    }
    if (!kind) decoder.fail("an mbarrier without its operation");
    switch (*kind) {
        case 0:
            decoder.require(instruction, 2);
            decoder.emit(instruction, initialise, {},
                         {decoder.whole_address(at[0]), decoder.source(at[1], Type::u32)});
            return;
        case 1:
            decoder.require(instruction, 1);
            decoder.emit(instruction, invalidate, {}, {decoder.whole_address(at[0])});
            return;
        case 2: return decode_arrive(decoder, instruction, modifiers, Arrival::plain);
        case 3: return decode_arrive(decoder, instruction, modifiers, Arrival::drops);
        case 6: decoder.fail("mbarrier.pending_count is not interpreted");
        default: return decode_wait(decoder, instruction, modifiers);
    }
}

}  // namespace

void add_mbarrier(OpcodeTable& table) { table["mbarrier"] = decode_mbarrier; }

}  // namespace fovea::ptx
