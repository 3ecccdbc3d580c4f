// The turns that the warps of a block take, and what happens when all of them wait.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/ptx/instructions/asynchronous.h"
#include "codegen/ptx/lanes.h"
#include "codegen/ptx/machine.h"

namespace fovea::ptx {
namespace {

/// Rounds in which all warps only poll, before it counts as a deadlock.
constexpr int kIdleRounds = 1000;
/// What each of them takes by %globaltimer: a kernel that gives up waiting does so before.
constexpr std::uint64_t kIdleNanoseconds = 100'000'000;

/// What shared memory holds before it is written: a NaN in every format.
constexpr std::byte kUnwritten{0xff};

std::uint32_t count_of(const std::array<std::uint32_t, 3>& extents) {
    return extents[0] * extents[1] * extents[2];
}

constexpr std::uint32_t kRegisters = 65536, kMostRegisters = 256;  // of a block, and of a thread

int agents_of(int warps) { return warps + 1 + (warps + 3) / 4; }

}  // namespace

Block::Block(Machine& of)
    : machine(of),
      threads(count_of(of.launch.block)),
      copy_engine(int(threads + kLanes - 1) / kLanes,
                  agents_of(int(threads + kLanes - 1) / kLanes)) {
    const int count = int(threads + kLanes - 1) / kLanes, agents = agents_of(count);
    for (int i = 0; i < count; ++i) warps.push_back(std::make_unique<Warp>(*this, i, agents));
    for (int i = count + 1; i < agents; ++i) tensor_cores.emplace_back(i, agents);
    const std::uint64_t bytes =
        std::uint64_t(of.program.static_shared) + of.launch.dynamic_shared_bytes;
    shared_memory.resize(bytes);
    shared_defined.resize(bytes);
    shared_shadow.resize(bytes);
    local_memory.resize(std::size_t(of.program.local_bytes) * std::size_t(count) * kLanes);
}

std::array<std::uint32_t, 3> Block::thread_of(int warp, int lane) const {
    const std::uint32_t thread = std::uint32_t(warp * kLanes + lane);
    const auto& extents = machine.launch.block;
    return {thread % extents[0], thread / extents[0] % extents[1],
            thread / extents[0] / extents[1]};
}

void Block::start() {
    std::fill(shared_memory.begin(), shared_memory.end(), kUnwritten);
    std::fill(shared_defined.begin(), shared_defined.end(), 0);
    shared_shadow.start(machine.tick);
    for (auto& shadow : machine.shadows)
        if (shadow) shadow->start(machine.tick);
    barriers.fill({});
    mbarriers.clear();
    landings.clear();
    proxy_fences.assign(warps.size(), 0);
    free_registers = 0;
    idle_nanoseconds = 0;
    copy_engine.start(machine.tick, kAllLanes);
    for (Agent& agent : tensor_cores) agent.start(machine.tick, kAllLanes);
    for (auto& warp : warps) {
        const std::uint32_t first = std::uint32_t(warp->number) * kLanes;
        const std::uint32_t lanes = std::min<std::uint32_t>(kLanes, threads - first);
        warp->start(lanes == kLanes ? kAllLanes : (Mask(1) << lanes) - 1);
        const auto share = kRegisters / (std::uint32_t(warps.size()) * kLanes);
        warp->register_count = std::min(kMostRegisters, share / 8 * 8);
        set_specials(*warp);
    }
}

std::uint64_t Block::run(std::array<std::uint32_t, 3> at) {
    index = at;
    start();
    const Schedule& schedule = machine.schedule;
    std::uint64_t seen = events;
    for (int idle = 0; idle < kIdleRounds;) {
        bool live = false, polls = false, ready = false;
        for (std::size_t i = 0; i < warps.size(); ++i) {
            Warp& warp = *warps[schedule.reverse ? warps.size() - 1 - i : i];
            if (warp.state == State::waiting) warp.state = State::ready;
            if (warp.state == State::ready) warp.run(schedule.slice);
        }
        release_products();
        for (const auto& warp : warps) {
            live |= warp->state != State::done;
            ready |= warp->state == State::ready;
            polls |= warp->state == State::waiting;
        }
        if (!live) {
            finish();
            std::uint64_t executed = 0;
            for (const auto& warp : warps) executed += warp->executed;
            return executed;
        }
        if (ready || events != seen) {
            seen = events;
            idle = 0;
        } else if (land_one()) {
            idle = 0;
        } else {
            idle += polls ? 1 : kIdleRounds;
            idle_nanoseconds += kIdleNanoseconds;
        }
    }
    const auto stuck = std::find_if(warps.begin(), warps.end(),
                                    [](const auto& warp) { return warp->state != State::done; });
    int exited = 0;
    for (const auto& warp : warps) exited += warp->state == State::done;
    const Mask lanes = (*stuck)->live ? (*stuck)->live : kAllLanes;
    (*stuck)->fail(FaultKind::deadlock, first_lane(lanes),
                   fmt::format("every warp waits, and nothing can happen any more; {} of {} have "
                               "ended",
                               exited, warps.size()));
}

/// What must not be under way any more when the last thread ends.
void Block::check_finished() const {
    const auto require = [](bool holds, const Warp& warp, FaultKind kind, const std::string& what) {
        if (!holds) warp.fail(kind, 0, "the kernel ends while " + what);
    };
    for (const auto& warp : warps)
        require(warp->products.empty(), *warp, FaultKind::in_flight,
                "an asynchronous product is under way");
    require(landings.empty(), *warps[0], FaultKind::race, "a bulk copy still writes shared memory");
    for (const auto& [address, barrier] : mbarriers)
        require(barrier.bytes == 0, *warps[std::size_t(barrier.maker)], FaultKind::barrier,
                fmt::format("{} bytes are missing at the mbarrier at shared address {:#x}",
                            barrier.bytes, address));
    for (std::size_t i = 0; i < barriers.size(); ++i)
        require(barriers[i].arrived == 0 || barriers[i].arrived == barriers[i].expected, *warps[0],
                FaultKind::barrier,
                fmt::format("{} of {} threads have arrived at barrier {}", barriers[i].arrived,
                            barriers[i].expected, i));
}

/// Stores that the kernel left to happen do so when it ends.
void Block::finish() {
    check_finished();
    ++machine.tick;
    for (auto& warp : warps) {
        finish_stores(*warp);
        machine.tick = std::max(machine.tick, warp->agent.now() + 1);
    }
    machine.tick = std::max(machine.tick, copy_engine.now() + 1);
    for (const Agent& agent : tensor_cores) machine.tick = std::max(machine.tick, agent.now() + 1);
}

bool Block::land_one() {
    if (landings.empty()) return false;
    const bool last = machine.schedule.copies == Schedule::Copies::last_in;
    Landing landing = std::move(last ? landings.back() : landings.front());
    if (last) landings.pop_back();
    else landings.pop_front();
    land(*this, landing);
    return true;
}

/// Products happen when all the warps of a warpgroup wait for them.
void Block::release_products() {
    for (std::size_t first = 0; first + 3 < warps.size(); first += 4) {
        bool all = true;
        for (std::size_t i = first; i < first + 4; ++i)
            all &= warps[i]->state == State::at_products;
        if (!all) continue;
        for (std::size_t i = first; i < first + 4; ++i) finish_products(*warps[i]);
        const Clock read = tensor_cores[first / 4].publish(kAllLanes);
        for (std::size_t i = first; i < first + 4; ++i) {
            warps[i]->agent.learn(warps[i]->live, read);
            warps[i]->state = State::ready;
        }
        progress();
    }
}

void Block::set_specials(Warp& warp) {
    const auto& extents = machine.launch.block;
    const auto& grid = machine.launch.grid;
    for (const auto& [slot, special] : machine.program.specials) {
        for (int lane = 0; lane < kLanes; ++lane) {
            const auto thread = thread_of(warp.number, lane);
            const Mask bit = Mask(1) << lane;
            std::uint32_t value = 0;
            switch (special) {
                case Special::tid_x: value = thread[0]; break;
                case Special::tid_y: value = thread[1]; break;
                case Special::tid_z: value = thread[2]; break;
                case Special::ntid_x: value = extents[0]; break;
                case Special::ntid_y: value = extents[1]; break;
                case Special::ntid_z: value = extents[2]; break;
                case Special::ctaid_x: value = index[0]; break;
                case Special::ctaid_y: value = index[1]; break;
                case Special::ctaid_z: value = index[2]; break;
                case Special::nctaid_x: value = grid[0]; break;
                case Special::nctaid_y: value = grid[1]; break;
                case Special::nctaid_z: value = grid[2]; break;
                case Special::laneid: value = std::uint32_t(lane); break;
                case Special::warpid: value = std::uint32_t(warp.number); break;
                case Special::nwarpid: value = std::uint32_t(warps.size()); break;
                case Special::lanemask_eq: value = bit; break;
                case Special::lanemask_lt: value = bit - 1; break;
                case Special::lanemask_le: value = bit | (bit - 1); break;
                case Special::lanemask_gt: value = ~(bit | (bit - 1)); break;
                case Special::lanemask_ge: value = ~(bit - 1); break;
                case Special::dynamic_shared: value = machine.launch.dynamic_shared_bytes; break;
                case Special::total_shared: value = std::uint32_t(shared_memory.size()); break;
                case Special::zero: value = 0; break;
                case Special::one: value = 1; break;
            }
            warp.set_bits(slot, lane, value);
        }
    }
}

}  // namespace fovea::ptx
