// The paths of a warp's lanes through the program: lanes that part at a branch meet again at its
// immediate post-dominator.
#include <fmt/format.h>

#include <limits>

#include "codegen/ptx/lanes.h"
#include "codegen/ptx/machine.h"

namespace fovea::ptx {

Warp::Warp(Block& of, int warp, int agents) : block(of), number(warp), agent(warp, agents) {
    const Program& program = of.machine.program;
    registers.resize(program.register_bytes);
    defined.resize(program.slot_count);
    if (program.uses_wgmma) {
        busy.resize(program.slot_count);
        written_at.resize(program.slot_count);
    }
    for (const Program::Constant& constant : program.constants)
        for (int lane = 0; lane < kLanes; ++lane) set_bits(constant.slot, lane, constant.bits);
}

void Warp::start(Mask lanes) {
    const Program& program = block.machine.program;
    std::fill(defined.begin(), defined.end(), 0);
    for (const auto& constant : program.constants) defined[constant.slot.number] = kAllLanes;
    for (const auto& special : program.specials) defined[special.slot.number] = kAllLanes;
    std::fill(busy.begin(), busy.end(), Busy::no);
    std::fill(written_at.begin(), written_at.end(), 0);
    agent.start(block.machine.tick, lanes);
    fenced_at = 0;
    fenced.clear();
    live = lanes;
    stack.assign(1, {-1, lanes, 0});
    state = live ? State::ready : State::done;
    executed = 0;
    op = nullptr;
    copies.clear();
    copy_groups.fill(0);
    stores.clear();
    store_groups.fill(0);
    products.clear();
    product_groups = 0;
}

void Warp::run(std::uint64_t slice) {
    const Op* ops = block.machine.program.ops.data();
    const std::uint64_t limit = block.machine.launch.max_instructions;
    const std::uint64_t stop = slice ? executed + slice : std::numeric_limits<std::uint64_t>::max();
    while (!stack.empty() && executed < stop) {
        Path& path = stack.back();
        if (!path.mask || path.pc == path.reconverge) {
            stack.pop_back();
            continue;
        }
        op = &ops[path.pc++];
        if (++executed > limit)
            fail(FaultKind::budget, first_lane(path.mask),
                 fmt::format("the warp executed {} instructions, as many as the launch allows",
                             limit));
        Mask mask = path.mask;
        if (op->guarded) {
            require_defined(op->guard, mask);
            const Mask guard = this->mask(op->guard);
            mask &= op->guard_negated ? ~guard : guard;
        }
        if (op->flow == Flow::branch) {
            if (mask) branch(*op, path.mask, mask);
        } else if (mask) {
            execute(*op, mask);
            if (state != State::ready) return;
        }
    }
    if (stack.empty()) state = State::done;
}

void Warp::execute(const Op& now, Mask mask) {
    if (!busy.empty() && now.check != Check::none) check_busy(now, mask);
    if (now.check == Check::all) {
        Mask missing = 0;
        for (int i = 0; i < now.sources; ++i) missing |= ~defined[now.source(i).number];
        if (missing & mask)
            for (int i = 0; i < now.sources; ++i) require_defined(now.source(i), mask);
    }
    if (now.flow == Flow::exit) return leave(mask);
    if (now.flow == Flow::branch_table) return branch_table(now, mask);
    now.run(*this, now, mask);
    if (now.check == Check::all)
        for (int i = 0; i < now.results; ++i) defined[now.result(i).number] |= mask;
    if (!busy.empty())
        for (int i = 0; i < now.results; ++i) written_at[now.result(i).number] = executed;
}

void Warp::check_busy(const Op& now, Mask mask) const {
    for (int i = 0; i < now.sources; ++i)
        if (busy[now.source(i).number] == Busy::written)
            fail(FaultKind::in_flight, first_lane(mask),
                 "a register is read that an asynchronous product writes: it was not waited for");
    for (int i = 0; i < now.results; ++i)
        if (busy[now.result(i).number] != Busy::no)
            fail(FaultKind::in_flight, first_lane(mask),
                 "a register is written that an asynchronous product uses: it was not waited for");
}

void Warp::branch(const Op& now, Mask mask, Mask taken) {
    Path& path = stack.back();
    if (taken == mask) {
        path.pc = now.target;
        return;
    }
    const std::int32_t fall = path.pc, meet = now.reconverge;
    if (meet == path.reconverge) stack.pop_back();
    else path.pc = meet;
    stack.push_back({meet, mask & ~taken, fall});
    stack.push_back({meet, taken, now.target});
}

void Warp::branch_table(const Op& now, Mask mask) {
    const auto& targets = block.machine.program.tables[std::size_t(now.target)];
    Path& path = stack.back();
    const std::uint32_t* chosen = lanes<std::uint32_t>(now.source());
    for_lanes(mask, [&](int lane) {
        if (chosen[lane] >= targets.size())
            fail(FaultKind::bounds, lane,
                 fmt::format("target {} of a list of {}", chosen[lane], targets.size()));
    });
    const Mask falling = path.mask & ~mask;
    const std::int32_t fall = path.pc, meet = now.reconverge;
    if (meet == path.reconverge) stack.pop_back();
    else path.pc = meet;
    if (falling) stack.push_back({meet, falling, fall});
    for (std::size_t i = 0; i < targets.size(); ++i) {
        Mask taken = 0;
        for_lanes(mask, [&](int lane) { taken |= Mask(chosen[lane] == i) << lane; });
        if (taken) stack.push_back({meet, taken, targets[i]});
    }
}

void Warp::leave(Mask mask) {
    live &= ~mask;
    agent.exit(mask);
    for (Path& path : stack) path.mask &= ~mask;
    block.progress();
}

std::uint64_t Warp::bits(const Slot& slot, int lane) {
    if (slot.type == Type::pred) return mask(slot) >> lane & 1;
    switch (slot.bytes()) {
        case 1: return lanes<std::uint8_t>(slot)[lane];
        case 2: return lanes<std::uint16_t>(slot)[lane];
        case 4: return lanes<std::uint32_t>(slot)[lane];
        default: return lanes<std::uint64_t>(slot)[lane];
    }
}

void Warp::set_bits(const Slot& slot, int lane, std::uint64_t bits) {
    if (slot.type == Type::pred) {
        Mask& predicate = mask(slot);
        predicate = (predicate & ~(Mask(1) << lane)) | Mask(bits & 1) << lane;
        return;
    }
    switch (slot.bytes()) {
        case 1: lanes<std::uint8_t>(slot)[lane] = std::uint8_t(bits); break;
        case 2: lanes<std::uint16_t>(slot)[lane] = std::uint16_t(bits); break;
        case 4: lanes<std::uint32_t>(slot)[lane] = std::uint32_t(bits); break;
        default: lanes<std::uint64_t>(slot)[lane] = bits;
    }
}

void Warp::require_defined(const Slot& slot, Mask mask) const {
    const Mask missing = ~defined[slot.number] & mask;
    if (missing)
        fail(FaultKind::uninitialised, first_lane(missing),
             "a register is read that was not written before");
}

void Warp::require_whole(Mask mask) const {
    if (mask != live)
        fail(FaultKind::divergent, first_lane(live & ~mask),
             "an instruction of the whole warp is reached by a part of it");
}

void Warp::fail(FaultKind kind, int lane, const std::string& what) const {
    Fault::Place place{.kernel = block.machine.program.name, .text = {}};
    if (op) {
        place.line = op->line;
        const auto& lines = block.machine.text.lines;
        if (op->line >= 1 && std::size_t(op->line) <= lines.size()) {
            place.text = lines[std::size_t(op->line) - 1];
            place.text.erase(0, place.text.find_first_not_of(" \t"));
        }
    }
    place.block = block.index;
    place.thread = block.thread_of(number, lane);
    throw Fault(kind, place, what);
}

}  // namespace fovea::ptx
