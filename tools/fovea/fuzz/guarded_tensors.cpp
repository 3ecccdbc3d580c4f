#include "tools/fovea/fuzz/guarded_tensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace fovea::tool::fuzz {

namespace {

/// Whether a parameter's next value may be written over it.
bool moves(const plan::Program& program, const plan::Tensor& parameter) {
    return std::ranges::any_of(program.tensors, [&](const plan::Tensor& tensor) {
        return tensor.role == plan::Role::output && tensor.state && tensor.name == parameter.name;
    });
}

}  // namespace

GuardedTensors::GuardedTensors(runtime::Instance& instance, runtime::Parameters& parameters,
                               const plan::Program& program, const SampleDims& dims) {
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        const plan::Tensor& tensor = program.tensors[i];
        const bool is_parameter = tensor.role == plan::Role::parameter;
        const bool is_guarded =
            is_parameter ? !moves(program, tensor) && !tensor.storage
                         : tensor.role == plan::Role::input || tensor.role == plan::Role::output;
        if (!is_guarded || tensor.state) continue;
        std::int64_t count = size_of(tensor.dtype);
        for (const Dim& dim : tensor.shape) count *= value_of(dim, dims);
        if (count <= 0) continue;
        const auto bytes = std::size_t(count);
        void* const place = guarded(bytes);
        if (is_parameter) hold_values(parameters.address(i), place, bytes);
        instance.place_tensor(i, place);
    }
}

void GuardedTensors::hold_values(const void* values, void* place, std::size_t bytes) {
    std::memcpy(place, values, bytes);
    auto* const start = static_cast<std::byte*>(pages_.back().address);
    const auto used = std::size_t(static_cast<std::byte*>(place) - start) + bytes;
    if (mprotect(start, used, PROT_READ) != 0) throw std::bad_alloc();
}

GuardedTensors::~GuardedTensors() {
    for (const Pages& pages : pages_) munmap(pages.address, pages.bytes);
}

void* GuardedTensors::guarded(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t usable = (bytes + page - 1) / page * page;
    void* const start =
        mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    pages_.push_back({start, usable + page});
    auto* const address = static_cast<std::byte*>(start);
    if (mprotect(address + usable, page, PROT_NONE) != 0) throw std::bad_alloc();
    return address + usable - bytes;
}

}  // namespace fovea::tool::fuzz
