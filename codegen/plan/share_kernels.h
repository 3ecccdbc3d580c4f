// Kernels that are the same, held once.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::plan {

/// Collects the kernels of a model: the layers of a stack share theirs.
class KernelPool {
  public:
    /// The number of a kernel that is the same as `kernel`; it is added if there is none. Each has
    /// a name that no other has; one that several have asked for, the common part of their names:
    /// `encoder_block_ffn_dense1`.
    int number_of(const kernel::Kernel& kernel);
    /// No kernel is called as one of these.
    void avoid(const std::vector<std::string>& names);
    std::vector<kernel::Kernel> take() { return std::move(kernels_); }
    const std::vector<kernel::Kernel>& kernels() const { return kernels_; }

  private:
    void give_name(int number);

    std::vector<kernel::Kernel> kernels_;
    std::vector<std::string> wanted_;  // their names, before they are told apart
    std::unordered_multimap<std::uint64_t, int> by_hash_;
    std::set<std::string> names_;
};

}  // namespace fovea::plan
