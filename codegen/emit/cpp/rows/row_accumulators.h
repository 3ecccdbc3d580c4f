// Sums and maxima of row kernels: the variables that passes gather them in.
#pragma once

#include <map>
#include <string>

#include "codegen/emit/cpp/values.h"
#include "codegen/kernel/analysis/passes.h"
#include "codegen/kernel/analysis/row_tail.h"

namespace fovea::emit {

/// The part of each row that its mask hides, and what is in it.
struct RowEnd {
    std::string seen, extent;  // the positions before it, those of a whole row
    std::map<kernel::Id, kernel::Id> values;
};

class RowAccumulators {
  public:
    RowAccumulators(const kernel::Kernel& kernel, Signature& signature, Writer& writer,
                    Values& values)
        : kernel_(kernel), signature_(signature), writer_(writer), values_(values) {}

    kernel::AxisId lane = -1;  // the axis across whose lanes results are gathered; -1: none
    std::string group, row;    // variables: rows that are taken together, one of them; "": alone

    /// Before the loop of a pass: `floats total_lanes{};`
    void open(const kernel::Pass& pass);
    /// Inside it: `total_lanes += …;`
    void add(kernel::Id reduce);
    /// After it; adds the end of the row, where the loop leaves it out.
    void close(const kernel::Pass& pass, const RowEnd* end);

  private:
    const std::string& accumulator(kernel::Id id);
    std::string with_end(kernel::Id id, const std::string& seen, const RowEnd& end);

    const kernel::Kernel& kernel_;
    Signature& signature_;
    Writer& writer_;
    Values& values_;
    std::map<kernel::Id, std::string> accumulators_;
};

}  // namespace fovea::emit
