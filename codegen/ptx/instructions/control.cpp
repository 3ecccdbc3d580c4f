// Branches, calls, returns, and instructions that only order or hint.
#include <fmt/format.h>

#include "codegen/ptx/instructions/arithmetic.h"

namespace fovea::ptx {
namespace {

void nothing(Warp&, const Op&, Mask) {}

void trap(Warp& warp, const Op&, Mask mask) {
    warp.fail(FaultKind::trap, first_lane(mask), "the kernel's own trap");
}

/// Other warps first.
void sleep(Warp& warp, const Op&, Mask) { warp.state = State::waiting; }

/// setmaxnreg: `immediate` registers for each thread. `extra`: more than before, which the warp
/// waits for until others gave theirs back, or else fewer.
void set_registers(Warp& warp, const Op& op, Mask mask) {
    warp.require_whole(mask);
    const auto wanted = std::uint32_t(op.immediate), had = warp.register_count;
    std::uint32_t& free = warp.block.free_registers;
    if (!op.extra && wanted > had)
        warp.fail(FaultKind::bounds, first_lane(mask),
                  fmt::format("setmaxnreg.dec to {} registers of {}", wanted, had));
    if (op.extra && wanted < had)
        warp.fail(FaultKind::bounds, first_lane(mask),
                  fmt::format("setmaxnreg.inc to {} registers of {}", wanted, had));
    if (op.extra && had + free < wanted) {
        --warp.stack.back().pc;  // again, later
        warp.state = State::waiting;
        return;
    }
    free += had - wanted;
    warp.register_count = wanted;
    warp.block.progress();
}

/// Copies see the barrier objects that this warp has made.
void publish_barriers(Warp& warp, const Op&, Mask) {
    for (auto& [address, barrier] : warp.block.mbarriers)
        if (barrier.maker == warp.number) barrier.published = true;
}

/// Generic writes before it are seen by asynchronous instructions after it.
void fence_proxy(Warp& warp, const Op& op, Mask mask) {
    publish_barriers(warp, op, mask);
    if (mask == warp.live) warp.block.proxy_fences[std::size_t(warp.number)] = warp.agent.now();
    warp.fenced = warp.agent.publish(mask);
}

void decode_branch(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    modifiers.take("uni");
    decoder.require(instruction, 1);
    decoder.branch(instruction);
}

void decode_branch_table(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    modifiers.ignore({"idx", "uni"});
    decoder.branch_table(instruction);
}

void decode_return(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    modifiers.take("uni");
    decoder.leave(instruction, false);
}

void decode_exit(Decoder& decoder, const Instruction& instruction, Modifiers&) {
    decoder.leave(instruction, true);
}

void decode_call(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    modifiers.take("uni");
    decoder.call(instruction);
}

void decode_trap(Decoder& decoder, const Instruction& instruction, Modifiers&) {
    decoder.emit(instruction, trap, {}, {});
}

void decode_sleep(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    modifiers.type();
    decoder.emit(instruction, sleep, {}, {}).flow = Flow::may_wait;
}

/// Memory is always consistent here; what orders threads is for the barriers.
void decode_fence(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    modifiers.ignore({"sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "gl"});
    if (modifiers.take("mbarrier_init")) {
        decoder.emit(instruction, publish_barriers, {}, {});
        return;
    }
    if (modifiers.take("proxy")) {
        const bool async = modifiers.take("async") || modifiers.take("async::generic");
        modifiers.take_prefix("async");
        modifiers.take("alias");
        modifiers.take_prefix("tensormap");
        modifiers.take_prefix("sync_restrict");
        modifiers.space();
        decoder.emit(instruction, async ? fence_proxy : nothing, {}, {});
        return;
    }
    decoder.emit(instruction, nothing, {}, {});
}

void decode_registers(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    modifiers.ignore({"sync", "aligned", "u32"});
    const bool more = modifiers.take("inc");
    if (!more && !modifiers.take("dec")) decoder.fail("setmaxnreg without .inc or .dec");
    decoder.require(instruction, 1);
    const std::int64_t count = decoder.integer(instruction.operands[0]);
    if (count % 8 || count < 24 || count > 256)
        decoder.fail("setmaxnreg takes a multiple of 8 from 24 to 256");
    Op& op = decoder.emit(instruction, set_registers, {}, {});
    op.immediate = count;
    op.extra = more;
    op.flow = Flow::may_wait;
}

/// Hints about the kernel after this one.
void decode_hint(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    for (const std::string& modifier : instruction.modifiers) modifiers.take(modifier);
    decoder.emit(instruction, nothing, {}, {});
}

}  // namespace

void add_control(OpcodeTable& table) {
    table["bra"] = decode_branch;
    table["brx"] = decode_branch_table;
    table["ret"] = decode_return;
    table["exit"] = decode_exit;
    table["call"] = decode_call;
    table["trap"] = decode_trap;
    table["brkpt"] = decode_trap;
    table["nanosleep"] = decode_sleep;
    table["membar"] = decode_fence;
    table["fence"] = decode_fence;
    table["setmaxnreg"] = decode_registers;
    for (const char* hint : {"griddepcontrol", "pmevent"}) table[hint] = decode_hint;
}

}  // namespace fovea::ptx
