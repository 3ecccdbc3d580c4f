// What `verify` says of kernels that miss their bounds.
#pragma once

#include <string>
#include <vector>

#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::test {

/// A line for each row that misses its bound; empty: none does.
inline std::string misses(const std::vector<tool::VerifyRow>& rows) {
    std::string text;
    for (const tool::VerifyRow& row : rows)
        if (!row.ok)
            text += row.kernel + " (" + row.dims + "): " + std::to_string(row.of_bound) + "\n";
    return text;
}

}  // namespace fovea::test
