// Barriers of the block, of a part of its warps, of one warp, and of the cluster.
#include <fmt/format.h>

#include "codegen/ptx/instructions/arithmetic.h"

namespace fovea::ptx {
namespace {

constexpr std::size_t kClusterBarrier = 16;

enum class Reduction : std::int64_t { none, count, conjunction, disjunction };

void finish_reduction(Warp& warp, const Op& op, Mask mask, std::uint32_t holds,
                      std::uint32_t threads) {
    const Slot& to = op.result();
    switch (Reduction(op.extra)) {
        case Reduction::count:
            for_lanes(mask, [&](int lane) { warp.set_bits(to, lane, holds); });
            break;
        case Reduction::conjunction:
            warp.mask(to) = (warp.mask(to) & ~mask) | (holds == threads ? mask : 0);
            break;
        default: warp.mask(to) = (warp.mask(to) & ~mask) | (holds ? mask : 0);
    }
}

/// All have arrived: those that wait go on, and know what all have done.
void complete(Block& block, Barrier& barrier) {
    for (const Barrier::Waiting& waiting : barrier.waiting) {
        waiting.warp->state = State::ready;
        waiting.warp->agent.learn(waiting.mask, barrier.clock);
        if (waiting.reduction)
            finish_reduction(*waiting.warp, *waiting.reduction, waiting.mask, barrier.holds,
                             barrier.arrived);
    }
    barrier = {};
    block.progress();
}

/// Counts a warp in. `expected`: threads, 0 for all of the block.
Barrier& arrive_at(Warp& warp, std::uint64_t id, std::uint32_t expected, Mask mask) {
    warp.require_whole(mask);
    if (id >= 16)
        warp.fail(FaultKind::barrier, first_lane(mask),
                  fmt::format("barrier {}; they are 0 to 15", id));
    Block& block = warp.block;
    if (expected % kLanes)
        warp.fail(FaultKind::barrier, first_lane(mask),
                  fmt::format("a barrier of {} threads, no multiple of 32", expected));
    const std::uint32_t count = expected ? expected : std::uint32_t(block.warps.size()) * kLanes;
    Barrier& barrier = block.barriers[id];
    if (barrier.arrived && barrier.expected != count)
        warp.fail(FaultKind::barrier, first_lane(mask),
                  fmt::format("barrier {} waits for {} threads here, for {} elsewhere", id, count,
                              barrier.expected));
    barrier.expected = count;
    barrier.arrived += kLanes;
    if (barrier.arrived > count)
        warp.fail(FaultKind::barrier, first_lane(mask),
                  fmt::format("{} threads arrive at barrier {} of {}", barrier.arrived, id, count));
    warp.agent.synchronise();
    join(barrier.clock, warp.agent.publish(mask));
    return barrier;
}

/// The number that all lanes hold.
std::uint64_t uniform(Warp& warp, const Slot& slot, Mask mask) {
    const std::uint64_t value = warp.bits(slot, first_lane(mask));
    for_lanes(mask, [&](int lane) {
        if (warp.bits(slot, lane) != value)
            warp.fail(FaultKind::divergent, lane, "lanes of a warp name different barriers");
    });
    return value;
}

/// Sources: the barrier, the threads (0: all), and the predicate of a reduction.
void synchronise(Warp& warp, const Op& op, Mask mask) {
    Barrier& barrier = arrive_at(warp, uniform(warp, op.source(0), mask),
                                 std::uint32_t(uniform(warp, op.source(1), mask)), mask);
    const bool reduces = Reduction(op.extra) != Reduction::none;
    if (reduces) barrier.holds += std::uint32_t(std::popcount(warp.mask(op.source(2)) & mask));
    barrier.waiting.push_back({&warp, reduces ? &op : nullptr, mask});
    warp.state = State::at_barrier;
    if (barrier.arrived == barrier.expected) complete(warp.block, barrier);
}

void arrive_only(Warp& warp, const Op& op, Mask mask) {
    Barrier& barrier = arrive_at(warp, uniform(warp, op.source(0), mask),
                                 std::uint32_t(uniform(warp, op.source(1), mask)), mask);
    if (barrier.arrived == barrier.expected) complete(warp.block, barrier);
}

/// bar.warp.sync: the lanes of the mask, which must be those that execute it.
void synchronise_warp(Warp& warp, const Op& op, Mask mask) {
    const std::uint32_t* members = warp.lanes<std::uint32_t>(op.source());
    for_lanes(mask, [&](int lane) {
        if ((members[lane] & warp.live) != mask)
            warp.fail(FaultKind::divergent, lane,
                      fmt::format("lanes {:#010x} reach a bar.warp.sync of lanes {:#010x}", mask,
                                  members[lane]));
    });
    warp.agent.synchronise();
}

/// The cluster's barrier, of one block here: all arrive, then all wait.
void arrive_cluster(Warp& warp, const Op&, Mask mask) {
    warp.require_whole(mask);
    Barrier& barrier = warp.block.barriers[kClusterBarrier];
    barrier.expected = std::uint32_t(warp.block.warps.size()) * kLanes;
    if (barrier.arrived == barrier.expected)
        warp.fail(FaultKind::barrier, first_lane(mask),
                  "barrier.cluster.arrive twice without a wait");
    barrier.arrived += kLanes;
    warp.agent.synchronise();
    join(barrier.clock, warp.agent.publish(mask));
    if (barrier.arrived < barrier.expected) return;
    for (const Barrier::Waiting& waiting : barrier.waiting) {
        waiting.warp->state = State::ready;
        waiting.warp->agent.learn(waiting.mask, barrier.clock);
    }
    barrier.holds = std::uint32_t(barrier.waiting.size());  // those that are past the wait
    barrier.waiting.clear();
    warp.block.progress();
}

void wait_cluster(Warp& warp, const Op&, Mask mask) {
    warp.require_whole(mask);
    Barrier& barrier = warp.block.barriers[kClusterBarrier];
    if (barrier.arrived < barrier.expected || barrier.expected == 0) {
        barrier.waiting.push_back({&warp, nullptr, mask});
        warp.state = State::at_barrier;
        return;
    }
    warp.agent.learn(mask, barrier.clock);
    if (++barrier.holds == warp.block.warps.size()) barrier = {};
}

void decode_cluster(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    modifiers.ignore({"aligned", "release", "relaxed", "acquire"});
    const bool arrives = modifiers.take("arrive");
    if (!arrives && !modifiers.take("wait")) decoder.fail("barrier.cluster without arrive or wait");
    decoder.emit(instruction, arrives ? arrive_cluster : wait_cluster, {}, {}).flow =
        Flow::may_wait;
}

void decode_reduction(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const auto kind = modifiers.take_one({"popc", "and", "or"});
    if (!kind || at.size() < 3) decoder.fail("bar.red without its operation");
    const Type type = modifiers.type();
    const Slot threads =
        at.size() == 4 ? decoder.source(at[2], Type::u32) : decoder.constant(0, Type::u32);
    Op& op =
        decoder.emit(instruction, synchronise, {decoder.result(at[0], type)},
                     {decoder.source(at[1], Type::u32), threads, decoder.predicate(at.back())});
    op.extra = std::int64_t(*kind) + 1;
    op.flow = Flow::may_wait;
}

void decode_barrier(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    modifiers.ignore({"cta", "aligned"});
    if (modifiers.take("cluster")) return decode_cluster(decoder, instruction, modifiers);
    if (modifiers.take("warp")) {
        modifiers.take("sync");
        decoder.require(instruction, 1);
        decoder.emit(instruction, synchronise_warp, {}, {decoder.source(at[0], Type::u32)});
        return;
    }
    if (modifiers.take("red")) return decode_reduction(decoder, instruction, modifiers);
    const bool arrives = modifiers.take("arrive");
    if (!arrives && !modifiers.take("sync")) decoder.fail("a barrier without sync or arrive");
    if (at.size() != 2) decoder.require(instruction, arrives ? 2 : 1);
    const Slot threads =
        at.size() == 2 ? decoder.source(at[1], Type::u32) : decoder.constant(0, Type::u32);
    decoder
        .emit(instruction, arrives ? arrive_only : synchronise, {},
              {decoder.source(at[0], Type::u32), threads})
        .flow = Flow::may_wait;
}

}  // namespace

void add_barrier(OpcodeTable& table) {
    table["bar"] = decode_barrier;
    table["barrier"] = decode_barrier;
}

}  // namespace fovea::ptx
