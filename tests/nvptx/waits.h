// Whether each barrier, fence, wait and arrival of emitted PTX is needed: without one, a schedule
// of the interpreter finds a fault, or the results are other bits.
#pragma once

#include <functional>

#include "tests/nvptx/run_ptx.h"

namespace fovea::test {

struct Waits {
    int all = 0;
    std::vector<std::string> unneeded;  // the lines that could go
};

/// Deletes each in turn from the only kernel of `emitted`, which is run on `arrays()`.
Waits waits_of(Emitted emitted, const kernel::DimValues& dims,
               const std::function<Arrays()>& arrays);

}  // namespace fovea::test
