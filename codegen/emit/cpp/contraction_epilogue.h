// What a contraction does with its sums: whether it has a form that kernels share, and the tensors
// that it reads and writes row by row.
#pragma once

#include <vector>

#include "codegen/kernel/schedule.h"

namespace fovea::emit {

/// A contraction, and the nodes of its epilogue.
struct ContractionEpilogue {
    const kernel::Kernel& kernel;
    const kernel::ContractionSchedule& schedule;
    kernel::Id contract;
    std::vector<kernel::Id> nodes, stores;

    /// Whether it is one store of the product as it is, row by row.
    bool only_stores() const;
    /// The load of what its store adds the product to, element by element in rows of one length,
    /// where the number of terms is known only when the program runs: they may be few. Else -1.
    kernel::Id added_to() const;
    /// Where it stores and loads row by row, three at most, of a sum that may be long; else none.
    std::vector<kernel::Access> tensors() const;

  private:
    bool is_in_rows(const kernel::Access& access) const;
    bool may_be_long() const;
    bool is_of_floats(const kernel::Access& access) const;
};

}  // namespace fovea::emit
