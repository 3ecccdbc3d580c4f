// What each thread of a program computes for itself, instead of waiting for others' parts of it.
#pragma once

#include <new>

#include "../memory/scratch.h"
#include "run.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Inside the parallel region, the replicated steps of a program: where the largest touches at most
/// `most` numbers, each thread runs all of them, and has `slots` tensors of its own for what they
/// write. Else, where there is one thread, and under an observer of values, they are as others are:
/// threads share them and what they write. All threads of a call decide the same.
template <i64 most, int slots>
class Replicas {
  public:
    Replicas(const runtime::Call& call, i64 numbers) {
        const bool observes_values = call.observe && !call.observe_time;
        if (numbers <= most && !observes_values && Team::part().count > 1)
            own_ = runtime::replica_memory(slots * kSlot);
    }

    template <class T>
    T* tensor(const runtime::Call& call, int number, int slot) const {
        static_assert(sizeof(T) <= 4);
        return own_ ? reinterpret_cast<T*>(own_ + slot * kSlot) : cpu::tensor<T>(call, number);
    }
    /// For as long as it lives, a replicated step runs: by this thread alone, where it has its own.
    class Alone {
      public:
        explicit Alone(bool is) : is_(is) {
            if (is_) new (&member_) TeamMember;
        }
        ~Alone() {
            if (is_) member_.~TeamMember();
        }
        Alone(const Alone&) = delete;

      private:
        const bool is_;
        union {
            TeamMember member_;
        };
    };
    Alone alone() const { return Alone(own_ != nullptr); }
    /// For the others, where steps before this one were shared.
    void wait(Team& team) const {
        if (!own_) team.wait();
    }

  private:
    // Slots do not begin at the same place of a page: they would use the same lines of a cache.
    static constexpr i64 kSlot = (most * 4 + 63) / 64 * 64 + 33 * 64;

    char* own_ = nullptr;
};

}  // namespace fovea::cpu::inline FOVEA_ISA
