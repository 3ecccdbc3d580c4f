#include "codegen/emit/cpp/row_arrays.h"

#include <algorithm>

namespace fovea::emit {

namespace {

constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kLargestArray = 1024;  // floats

}  // namespace

std::int64_t stack_size_of_row(const kernel::Kernel& kernel, kernel::AxisId lane) {
    if (lane < 0) return 0;
    const Dim& extent = kernel.axes[std::size_t(lane)].extent;
    if (!extent.is_static() || extent.value() > kLargestArray) return 0;
    return std::max((extent.value() + kLanes - 1) / kLanes, std::int64_t{1}) * kLanes;
}

void write_row_arrays(const std::vector<std::string>& names, std::int64_t stack_size,
                      const std::string& extent, Signature& signature, Writer& writer) {
    if (names.empty()) return;
    if (stack_size > 0) {
        for (const std::string& name : names)
            writer.line("alignas(64) float " + name + "[" + std::to_string(stack_size) + "];");
        return;
    }
    const std::string row_size = signature.fresh("row_size");
    writer.line("const i64 " + row_size + " = whole_lanes(" + extent + ");");
    const std::string count = names.size() > 1 ? std::to_string(names.size()) + " * " : "";
    writer.line("float* const " + names[0] + " = scratch(" + count + row_size + ");");
    for (std::size_t i = 1; i < names.size(); ++i)
        writer.line("float* const " + names[i] + " = " + names[0] + " + " + std::to_string(i) +
                    " * " + row_size + ";");
}

}  // namespace fovea::emit
