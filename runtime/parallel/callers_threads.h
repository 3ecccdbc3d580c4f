// Regions on the threads of the program around a model.
#pragma once

#include <atomic>
#include <functional>

#include "region.h"

namespace fovea::runtime {

/// Calls task(0), task(1), .. task(count - 1), each once, on threads of its own as it likes, and
/// returns when all calls have returned.
using ParallelFor = std::function<void(int count, const std::function<void(int index)>& task)>;

/// A call's team are the tasks that have begun when its first one has waited a moment for the
/// others, 0.2 ms at most, and no longer than until as many are there as in the call before; each
/// 64th call waits for all. So a parallel_for whose threads are busy delays little, and one that
/// runs its tasks one after the other has teams of one thread. Tasks that begin later return at
/// once. Tasks wait for each other between kernels, so each keeps its thread while it runs. Results
/// do not depend on who comes. Sessions may share it.
class CallersThreads : public RegionThreads {
  public:
    /// At most `count` tasks a call. UserError unless 1 <= count <= 1024, and without a function.
    CallersThreads(int count, ParallelFor parallel_for);

    /// UserError where parallel_for called no task; what it throws goes to the caller.
    void run(Team& team, void (*work)(void* state), void* state) override;

  private:
    const int count_;
    const ParallelFor parallel_for_;
    std::atomic<int> expected_;  // as many as came to the last call
    std::atomic<unsigned> calls_ = 0;
};

}  // namespace fovea::runtime
