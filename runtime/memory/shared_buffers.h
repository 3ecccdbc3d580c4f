// What programs prepare of parameters alone, such as weights in the order that kernels read them:
// in memory once for all instances over the same parameters.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "../program.h"

namespace fovea::runtime {

class Parameters;
class HeldBuffers;

/// What models link that have such buffers (BufferSpec::shared), and others do not.
struct SharedBuffers {
    /// The memory of all of them, which is there from the first call of `place` on.
    std::shared_ptr<HeldBuffers> (*make)(const Parameters& parameters);
    /// Where buffer `number` lies, at a multiple of 64 bytes. From any thread.
    void* (*place)(HeldBuffers& held, int number);
    /// From now on, who is asked for the parameters that buffers are filled of (Call::want), and
    /// called behind each run that fills any; null: nobody.
    struct Source {
        void (*want)(void* state, int parameter, Team& team) = nullptr;
        void (*end)(void* state) = nullptr;
        void* state = nullptr;
    };
    void (*set_source)(HeldBuffers& held, Source source);
    /// Does `work` while no run fills any. From any thread.
    void (*alone)(HeldBuffers& held, const std::function<void()>& work);
    /// Does `work`, which prepares what `program` reads by `call`, and fills what was not filled
    /// from the parameters of this version. While it does, no other fills any. From any thread.
    void (*run)(HeldBuffers& held, const Program& program, std::uint64_t version, Call& call,
                const std::function<void()>& work);
};

}  // namespace fovea::runtime
