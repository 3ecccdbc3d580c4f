// One block per thread, which grows.
#include "scratch.h"

#include <cstddef>
#include <memory>
#include <new>

namespace fovea::runtime {

float* scratch(std::int64_t count) {
    struct Free {
        void operator()(float* memory) const { ::operator delete[](memory, std::align_val_t(64)); }
    };
    static thread_local std::unique_ptr<float[], Free> memory;
    static thread_local std::int64_t capacity = 0;
    if (count > capacity) {
        memory.reset();
        memory.reset(new (std::align_val_t(64)) float[static_cast<std::size_t>(count)]);
        capacity = count;
    }
    return memory.get();
}

}  // namespace fovea::runtime
