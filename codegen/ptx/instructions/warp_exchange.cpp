// Lanes of a warp among themselves: shfl, vote, match, redux, elect, activemask.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/ptx/instructions/arithmetic.h"

namespace fovea::ptx {
namespace {

/// The lanes that the instruction names must be those that execute it: the last source.
void require_members(const Warp& warp, Mask members, Mask mask) {
    if ((members & warp.live) == mask) return;
    const Mask missing = (members & warp.live) ^ mask;
    warp.fail(
        FaultKind::divergent, first_lane(missing),
        fmt::format("lanes {:#010x} execute an instruction for lanes {:#010x}", mask, members));
}

void check_members(Warp& warp, const Op& op, Mask mask) {
    const std::uint32_t* members = warp.lanes<std::uint32_t>(op.source(op.sources - 1));
    for_lanes(mask, [&](int lane) { require_members(warp, members[lane], mask); });
}

enum class Shuffle : std::int64_t { up, down, butterfly, index };

/// Sources: the value, the lane or distance, the limits, the members.
void shuffle(Warp& warp, const Op& op, Mask mask) {
    check_members(warp, op, mask);
    std::uint32_t values[kLanes], fresh[kLanes]{};
    std::memcpy(values, warp.lanes<std::uint32_t>(op.source(0)), sizeof values);
    Mask inside_lanes = 0;
    for_lanes(mask, [&](int lane) {
        const int b = int(warp.lanes<std::uint32_t>(op.source(1))[lane] & 31);
        const std::uint32_t limits = warp.lanes<std::uint32_t>(op.source(2))[lane];
        const int clamp = int(limits & 31), segment = int(limits >> 8 & 31);
        const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
        int from = 0;
        bool inside = false;
        switch (Shuffle(op.immediate)) {
            case Shuffle::up: from = lane - b, inside = from >= last; break;
            case Shuffle::down: from = lane + b, inside = from <= last; break;
            case Shuffle::butterfly: from = lane ^ b, inside = from <= last; break;
            case Shuffle::index: from = first | (b & ~segment), inside = from <= last; break;
        }
        if (!inside) from = lane;
        if (!(mask >> from & 1))
            warp.fail(FaultKind::divergent, lane,
                      fmt::format("a value is taken from lane {}, which does not take part", from));
        fresh[lane] = values[from];
        inside_lanes |= Mask(inside) << lane;
    });
    store_lanes(warp.lanes<std::uint32_t>(op.result()), fresh, mask);
    if (op.results > 1) {
        Mask& to = warp.mask(op.result(1));
        to = (to & ~mask) | inside_lanes;
    }
}

enum class Vote : std::int64_t { all, any, uniform, ballot };

void vote(Warp& warp, const Op& op, Mask mask) {
    check_members(warp, op, mask);
    const Mask holds = warp.mask(op.source()) & mask;
    if (Vote(op.immediate) == Vote::ballot) {
        for_lanes(mask, [&](int lane) { warp.lanes<std::uint32_t>(op.result())[lane] = holds; });
        return;
    }
    bool answer = holds == mask;
    if (Vote(op.immediate) == Vote::any) answer = holds != 0;
    if (Vote(op.immediate) == Vote::uniform) answer |= holds == 0;
    Mask& to = warp.mask(op.result());
    to = (to & ~mask) | (answer ? mask : 0);
}

/// Which lanes hold the same value; for all: only if all do.
template <class T, bool kAll>
void match(Warp& warp, const Op& op, Mask mask) {
    check_members(warp, op, mask);
    const T* values = warp.lanes<T>(op.source());
    std::uint32_t fresh[kLanes]{};
    bool all = true;
    for_lanes(mask, [&](int lane) {
        Mask same = 0;
        for_lanes(mask, [&](int other) { same |= Mask(values[other] == values[lane]) << other; });
        fresh[lane] = same;
        all &= same == mask;
    });
    if (kAll)
        for (std::uint32_t& value : fresh) value = all ? mask : 0;
    store_lanes(warp.lanes<std::uint32_t>(op.result()), fresh, mask);
    if (op.results > 1) {
        Mask& to = warp.mask(op.result(1));
        to = (to & ~mask) | (all ? mask : 0);
    }
}

enum class WarpReduction : std::int64_t { add, min, max, conjunction, disjunction, exclusive };

template <class T>
void reduce(Warp& warp, const Op& op, Mask mask) {
    check_members(warp, op, mask);
    const T* values = warp.lanes<T>(op.source());
    T total = values[first_lane(mask)];
    for_lanes(mask & (mask - 1), [&](int lane) {
        const T value = values[lane];
        switch (WarpReduction(op.immediate)) {
            case WarpReduction::add: total = T(std::uint32_t(total) + std::uint32_t(value)); break;
            case WarpReduction::min: total = std::min(total, value); break;
            case WarpReduction::max: total = std::max(total, value); break;
            case WarpReduction::conjunction: total = T(total & value); break;
            case WarpReduction::disjunction: total = T(total | value); break;
            case WarpReduction::exclusive: total = T(total ^ value); break;
        }
    });
    for_lanes(mask, [&](int lane) { warp.lanes<T>(op.result())[lane] = total; });
}

void active_mask(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) { warp.lanes<std::uint32_t>(op.result())[lane] = mask; });
}

/// Results: the chosen lane, and whether a lane is it.
void elect(Warp& warp, const Op& op, Mask mask) {
    check_members(warp, op, mask);
    for_lanes(mask, [&](int lane) {
        warp.lanes<std::uint32_t>(op.result())[lane] = std::uint32_t(first_lane(mask));
    });
    Mask& to = warp.mask(op.result(1));
    to = (to & ~mask) | (mask & (~mask + 1));
}

std::vector<Slot> results_of(Decoder& decoder, const Operand& operand, Type type) {
    if (operand.kind != Operand::Kind::pair) return {decoder.result(operand, type)};
    return {decoder.result(operand.parts[0], type), decoder.result(operand.parts[1], Type::pred)};
}

void require_sync(Decoder& decoder, Modifiers& modifiers) {
    if (!modifiers.take("sync")) decoder.fail("only the forms with .sync are interpreted");
}

void decode_shuffle(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    require_sync(decoder, modifiers);
    const auto kind = modifiers.take_one({"up", "down", "bfly", "idx"});
    if (!kind) decoder.fail("shfl without its direction");
    const Type type = modifiers.type();
    decoder.require(instruction, 5);
    decoder
        .emit(instruction, shuffle, results_of(decoder, at[0], type),
              {decoder.source(at[1], type), decoder.source(at[2], Type::u32),
               decoder.source(at[3], Type::u32), decoder.source(at[4], Type::u32)})
        .immediate = std::int64_t(*kind);
}

void decode_vote(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    require_sync(decoder, modifiers);
    const auto kind = modifiers.take_one({"all", "any", "uni", "ballot"});
    const Type type = modifiers.type();
    if (!kind) decoder.fail("vote without its kind");
    decoder.require(instruction, 3);
    decoder
        .emit(instruction, vote, {decoder.result(at[0], type)},
              {decoder.predicate(at[1]), decoder.source(at[2], Type::u32)})
        .immediate = std::int64_t(*kind);
}

void decode_match(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const bool all = modifiers.take("all");
    modifiers.take("any");
    require_sync(decoder, modifiers);
    const Type type = modifiers.type();
    decoder.require(instruction, 3);
    const bool wide = bytes_of(type) == 8;
    using Narrow = std::uint32_t;
    using Wide = std::uint64_t;
    const Handler run = all ? (wide ? match<Wide, true> : match<Narrow, true>)
                            : (wide ? match<Wide, false> : match<Narrow, false>);
    decoder.emit(instruction, run, results_of(decoder, at[0], Type::b32),
                 {decoder.source(at[1], type), decoder.source(at[2], Type::u32)});
}

void decode_reduce(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    require_sync(decoder, modifiers);
    const auto kind = modifiers.take_one({"add", "min", "max", "and", "or", "xor"});
    const Type type = modifiers.type();
    if (!kind) decoder.fail("redux without its operation");
    decoder.require(instruction, 3);
    decoder
        .emit(instruction, type == Type::s32 ? reduce<std::int32_t> : reduce<std::uint32_t>,
              {decoder.result(at[0], type)},
              {decoder.source(at[1], type), decoder.source(at[2], Type::u32)})
        .immediate = std::int64_t(*kind);
}

void decode_active_mask(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    decoder.require(instruction, 1);
    decoder.emit(instruction, active_mask,
                 {decoder.result(instruction.operands[0], modifiers.type())}, {});
}

void decode_elect(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    require_sync(decoder, modifiers);
    decoder.require(instruction, 2);
    decoder.emit(instruction, elect, results_of(decoder, instruction.operands[0], Type::b32),
                 {decoder.source(instruction.operands[1], Type::u32)});
}

}  // namespace

void add_warp(OpcodeTable& table) {
    table["shfl"] = decode_shuffle;
    table["vote"] = decode_vote;
    table["match"] = decode_match;
    table["redux"] = decode_reduce;
    table["activemask"] = decode_active_mask;
    table["elect"] = decode_elect;
}

}  // namespace fovea::ptx
