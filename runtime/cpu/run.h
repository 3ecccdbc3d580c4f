// What the programs of a generated model use around their kernels: tensors by number, the observer,
// and what the caller does at the end.
#pragma once

#include "../call.h"
#include "../parallel/region.h"
#include "../parallel/shards.h"
#include "matrix_shapes.h"
#include "subnormals.h"
#include "threads.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Tensor `number` of a call, in the order of Call::tensors.
template <class T>
inline T* tensor(const runtime::Call& call, int number) {
    return static_cast<T*>(call.tensors[number]);
}

/// Inside the parallel region, after kernel number `kernel`: when all have finished it, one thread
/// calls the observer, and the others wait until it is done; one that looks at the clock alone is
/// called by each thread.
__attribute__((noinline, cold)) inline void call_observer(const runtime::Call& call, int kernel) {
    const Subnormals of_caller(Subnormals::kAsTheyAre);
    if (call.observe_time) return call.observe(call.observe_state, kernel);
    Team::wait_for_all();
    if (is_first_thread()) call.observe(call.observe_state, kernel);
    Team::wait_for_all();
}
inline void observe(const runtime::Call& call, int kernel) {
    if (call.observe) call_observer(call, kernel);
}

/// Whether tensor number `shared` is to be prepared, of this parameter. All threads ask.
inline bool fills(const runtime::Call& call, Team& team, int shared, int parameter) {
    if (call.stands && call.stands[shared]) return false;
    if (!call.want) return true;
    const Subnormals in_files(Subnormals::kAsTheyAre);
    call.want(call.want_state, parameter, team);
    return true;
}

/// A part of a program: what all threads of a region run together, or one thread alone.
using Kernels = void (*)(const runtime::Call&, Team&);

/// Inside the parallel region: the shards of this thread, in memory of its own.
inline void run_own_shards(const runtime::Call& call, Team& team, Kernels prepare, Kernels kernels,
                           runtime::Part part) {
    const int begin = first_shard(*call.shards, part.index, part.count);
    const int end = first_shard(*call.shards, part.index + 1, part.count);
    if (begin < end && prepare) prepare(runtime::call_of_place(call, begin), team);
    for (int shard = begin; shard < end; ++shard) {
        if (call.observe_time) call_observer(call, -1);
        kernels(runtime::call_of_shard(call, shard, begin), team);
    }
}

/// Inside the parallel region: a program, `prepare` (which may be null) and then `kernels`, by all
/// threads together.
inline void run_whole(const runtime::Call& call, Team& team, Kernels prepare, Kernels kernels) {
    if (call.prepare && prepare) {
        prepare(call, team);
        team.wait();
    }
    if (call.only_prepares) return;
    if (call.observe_time) call_observer(call, -1);
    kernels(call, team);
}

/// The same, or each shard of the batch by one thread, which prepares for itself. Bits depend on
/// the shards, not on who runs them.
inline void run_shards(const runtime::Call& call, Team& team, Kernels prepare, Kernels kernels) {
    if (!call.shards) return run_whole(call, team, prepare, kernels);
    const runtime::Part part = Team::part();
    {
        const runtime::TeamMember alone;
        run_own_shards(call, team, prepare, kernels, part);
    }
    runtime::add_own_shards(call, part);
    team.wait();
    runtime::add_shards(call, part);
}

/// Whether the batch of a program may be cut.
enum class Batch { whole, in_shards };

/// Inside the parallel region: the program, and what the caller does behind its last kernel.
template <Batch batch>
inline void run_part(const runtime::Call& call, Team& team, Kernels prepare, Kernels kernels) {
    const MatrixShapes of_region;
    const Subnormals in_region(Subnormals::kAsZeros);
    if constexpr (batch == Batch::whole) run_whole(call, team, prepare, kernels);
    else run_shards(call, team, prepare, kernels);
    if (call.finish) {
        team.wait();
        call.finish(call.finish_state, team);
    }
    team.end();
}

/// A program in one parallel region; with one thread in none, which would ask the system to wake
/// threads that there are not.
template <Batch batch>
inline void run_together(const runtime::Call& call, Kernels prepare, Kernels kernels) {
    if (runtime::region_is_alone() || (call.only_prepares && runtime::region_threads())) {
        Team team = Team::alone();
        return run_part<batch>(call, team, prepare, kernels);
    }
    struct Region {
        const runtime::Call& call;
        Team team;
        Kernels prepare, kernels;
    } region{call, {}, prepare, kernels};
    const auto work = [](void* state) {
        Region& own = *static_cast<Region*>(state);
        run_part<batch>(own.call, own.team, own.prepare, own.kernels);
    };
    runtime::run_region(region.team, work, &region);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
