#include "codegen/plan/share_kernels.h"

#include "codegen/kernel/same_kernel.h"

namespace fovea::plan {

namespace {

/// `_b`, `_c`, …, `_z`, `_bb`, …
std::string suffix(int variant) {
    std::string letters(1, char('b' + variant % 25));
    for (int rest = variant / 25; rest > 0; rest /= 25) letters += char('b' + (rest - 1) % 25);
    return "_" + letters;
}

}  // namespace

int KernelPool::number_of(const kernel::Kernel& kernel) {
    std::uint64_t hash = kernel::structural_hash(kernel);
    auto [at, end] = by_hash_.equal_range(hash);
    for (; at != end; ++at)
        if (kernel::same_kernel(kernels_[std::size_t(at->second)], kernel)) return at->second;
    int number = int(kernels_.size());
    kernels_.push_back(kernel);
    std::string base = kernel.name.empty() ? "kernel" : kernel.name, name = base;
    for (int variant = 0; !names_.insert(name).second; ++variant) name = base + suffix(variant);
    kernels_.back().name = name;
    by_hash_.emplace(hash, number);
    return number;
}

}  // namespace fovea::plan
