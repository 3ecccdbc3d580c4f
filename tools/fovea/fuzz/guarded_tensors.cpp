#include "tools/fovea/fuzz/guarded_tensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace fovea::tool::fuzz {

GuardedTensors::GuardedTensors(runtime::Instance& instance, const plan::Program& program,
                               const SampleDims& dims) {
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        const plan::Tensor& tensor = program.tensors[i];
        if ((tensor.role != plan::Role::input && tensor.role != plan::Role::output) || tensor.state)
            continue;
        std::int64_t bytes = size_of(tensor.dtype);
        for (const Dim& dim : tensor.shape) bytes *= value_of(dim, dims);
        if (bytes > 0) instance.place_tensor(i, guarded(std::size_t(bytes)));
    }
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
