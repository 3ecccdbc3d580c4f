// One program of a session, as generated headers call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

#include "typed_model.h"
#include "typed_tensors.h"

namespace fovea::runtime {

class RegionThreads;

struct SessionOptions {
    /// That a call runs on, with the one that calls; 0: as many as OpenMP has for its regions.
    int threads = 0;
    /// Threads of the caller's in the place of OpenMP's, as long as there are calls
    /// (fovea/parallel/callers_threads.h); null: OpenMP's.
    RegionThreads* run_on = nullptr;
    /// Memory of the caller for what lives during a call alone; sessions of which one is called at
    /// a time may share it. Calls whose sizes take more are refused. Empty: memory of its own.
    std::span<std::byte> workspace = {};
};

/// What a call draws from, where the program has dropout: the same numbers give the same bits.
struct Draw {
    std::uint64_t seed = 0, step = 0;
};

/// A program with memory of its own over parameters that it shares and does not move. One thread
/// calls it at a time.
class TypedProgram {
  public:
    TypedProgram(const TypedModel& model, const char* program, const SessionOptions& options);
    TypedProgram(TypedProgram&&) noexcept;
    TypedProgram& operator=(TypedProgram&&) noexcept;
    ~TypedProgram();

    /// See TypedTensors::place for sizes, inputs and outputs. UserError also for ids and lengths
    /// that are out of range, and where states go on from nothing.
    const TypedTensors& run(std::span<const std::int64_t> sizes,
                            std::initializer_list<GivenInput> inputs,
                            std::initializer_list<void*> outputs = {}, Draw draw = {});
    /// Of the last call.
    const TypedTensors& tensors() const;
    /// What a call with these sizes takes.
    CallBytes bytes_for(std::span<const std::int64_t> sizes) const;
    /// As SessionOptions::workspace; the next call sets up anew.
    void use_workspace(std::span<std::byte> memory);
    /// As SessionOptions::run_on, from the next call on; null: on OpenMP's threads.
    void use_threads(RegionThreads* threads);
    /// From now on the states of `other` begin as the outputs of their names that a call of this
    /// program makes, which calls hide. `other`, which must outlive this one, is then not called
    /// before it, nor with other sizes of its states. Once, before the first call of either.
    void starts(TypedProgram& other);
    /// States of the session are zeros again; those that another program starts wait for it.
    void reset();

  private:
    struct State;
    /// UserError where it was moved to another.
    State& state() const;
    std::unique_ptr<State> state_;
};

}  // namespace fovea::runtime
