// What generated code is called with, and what of it is compiled once per instruction set. Plain C
// types: whatever else a header defines, a linker could take from a part for a newer machine.
#pragma once

#include <cstdint>

#include "dtypes.h"

namespace fovea::runtime {

class Team;
struct Shards;

/// Floats of 16 bits, or none: null.
struct HalfFloats {
    const void* address = nullptr;
    DType type = DType::bf16;  // or f16
};

/// What one call of a program is given besides its tensors.
struct Call {
    const std::int64_t* dims = nullptr;  // values, in the order of Model::dims
    void* const* tensors = nullptr;  // parameters, then inputs, outputs, buffers, in their orders
    /// Of each parameter where its values lie as floats of 16 bits, for kernels that look its rows
    /// up; among the tensors it then need not have any. Null: none does.
    const HalfFloats* halves = nullptr;
    std::uint64_t seed = 0, step = 0;  // the key and the first counter word of dropout
    /// Where set, each thread runs whole shards of the batch (parallel/shards.h).
    const Shards* shards = nullptr;
    std::int64_t first = 0;  // of a shard: how many sequences of the batch stand before its own
    /// Parameters have changed since the last run: prepared buffers are filled before the first
    /// kernel.
    bool prepare = true;
    /// Of each tensor whether it is filled though others are not: by the run of another instance.
    /// Null: none is.
    const bool* stands = nullptr;
    /// Where set, all threads of the region call it before such a buffer is filled: the values of
    /// that parameter are there behind it, and those of the one before are not.
    void (*want)(void* state, int parameter, Team& team) = nullptr;
    void* want_state = nullptr;
    /// No kernel runs behind what is prepared. On threads of the caller's the calling one prepares
    /// alone, since the others may wait for it to end.
    bool only_prepares = false;
    /// The observer below looks at the clock alone: every thread calls it, as soon as it has
    /// finished a kernel, and with -1 before the first one (of each of its shards).
    bool observe_time = false;
    /// On a device, states among the inputs stay there from call to call: they are copied to it
    /// where the host has changed them, and back for those who ask (Executor::fetch_states).
    bool states_stay = false, states_changed = true;
    /// Called by every thread of the parallel region after the last kernel, when set: all outputs
    /// are written.
    void (*finish)(void* state, Team& team) = nullptr;
    void* finish_state = nullptr;
    /// Called after each kernel by one thread, when set (verification); `kernel` counts from 0.
    void (*observe)(void* state, int kernel) = nullptr;
    void* observe_state = nullptr;
};

/// The function of a program for one instruction set.
using ProgramCode = void (*)(const Call&);

}  // namespace fovea::runtime
