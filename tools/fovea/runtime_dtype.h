// Element types of the compiler as those of the programs that it writes.
#pragma once

#include <string_view>

#include "codegen/base/dtype.h"
#include "runtime/dtype.h"

namespace fovea::tool {

/// The same element type; both lists have one order.
constexpr runtime::DType runtime_dtype(DType type) { return runtime::DType(int(type)); }
constexpr DType compiler_dtype(runtime::DType type) { return DType(int(type)); }

static_assert(
    [] {
        for (int i = 0; i < kDTypes; ++i)
            if (name_of(DType(i)) != std::string_view(runtime::name_of(runtime_dtype(DType(i)))))
                return false;
        return std::size(runtime::kDTypes) == kDTypes;
    }(),
    "codegen/base/dtype.h and runtime/dtypes.h list other element types");

}  // namespace fovea::tool
