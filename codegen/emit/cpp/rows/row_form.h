// What the text of a row kernel is made from: which axis lies in the lanes, which are walked, and
// which sums are taken over rows.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/emit/cpp/signature.h"
#include "codegen/kernel/analysis/row_axes.h"

namespace fovea::emit {

/// A sum over rows, its store, and the name of what the current block of rows has of it.
struct RowSum : kernel::BlockSum {
    std::string part;
};

struct RowForm {
    std::vector<kernel::Id> nodes;  // those of the nest, without the stores of sums over rows
    std::vector<RowSum> sums;
    std::vector<kernel::AxisId> rows;  // that these sums are over, block by block
    kernel::AxisId blocks = -1;
    kernel::AxisId lane = -1;  // -1: everything is scalar
    bool columns = false;      // the lanes lie outside the passes
    std::vector<kernel::AxisId> steps;  // inner axes that are walked one position at a time

    /// The part among `sums` that the sum over rows `id` is added to; InternalError: none.
    const RowSum& sum_of(kernel::Id id) const;
    /// The axes that passes run over.
    std::set<kernel::AxisId> inner() const;
};

RowForm find_row_form(const kernel::Kernel& kernel, const kernel::LoopNest& nest,
                      Signature& signature);

/// Whether a row is whole vectors: its length is known, and a multiple of 16.
bool is_whole(const kernel::Kernel& kernel, kernel::AxisId lane);

}  // namespace fovea::emit
