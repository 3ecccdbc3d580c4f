// Blocks of each thread, which grow.
#include "scratch.h"

#include <cstddef>

#include "arena.h"

namespace fovea::runtime {

float* scratch(std::int64_t count) {
    static thread_local Arena memory;
    memory.reserve(static_cast<std::size_t>(count) * sizeof(float));
    return memory.as<float>();
}

char* replica_memory(std::int64_t bytes) {
    static thread_local Arena memory;
    memory.reserve(static_cast<std::size_t>(bytes));
    return memory.as<char>();
}

}  // namespace fovea::runtime
