// Whether this build writes PTX: the tests of devices that need it are skipped where it does not.
#pragma once

#include <doctest/doctest.h>

#include "codegen/emit/nvptx/emit_ptx.h"

namespace fovea::test {

inline bool has_ptx() {
    const auto reason = emit::why_not_ptx();
    if (reason) MESSAGE("skipped: " << *reason);
    return !reason;
}

}  // namespace fovea::test
