#include "codegen/emit/cpp/rows/row_arrays.h"

#include <algorithm>

namespace fovea::emit {

namespace {

std::string start_of(const kernel::Kernel& kernel, const RowSum& sum, Values& values) {
    return values.start(kernel::as<kernel::Store>(kernel, sum.store)->access).text;
}

}  // namespace

std::int64_t stack_size_of_row(const kernel::Kernel& kernel, kernel::AxisId lane,
                               const target::CpuRows& target) {
    constexpr std::int64_t lanes = target::kLanes;
    if (lane < 0) return 0;
    const Dim& extent = kernel.axes[std::size_t(lane)].extent;
    if (!extent.is_static() || extent.value() > target.largest_array) return 0;
    return std::max((extent.value() + lanes - 1) / lanes, std::int64_t{1}) * lanes;
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

void write_parts(const kernel::Kernel& kernel, const std::vector<RowSum>& sums,
                 std::int64_t stack_size, const std::string& extent, Values& values,
                 Writer& writer) {
    for (const RowSum& sum : sums)
        writer.line(stack_size > 0 ? "alignas(64) float " + sum.part + "[" +
                                         std::to_string(stack_size) + "] = {};"
                                   : "float* const " + sum.part + " = zeroed(" +
                                         start_of(kernel, sum, values) + ", " + extent + ");");
}

void copy_parts(const kernel::Kernel& kernel, const std::vector<RowSum>& sums,
                std::int64_t stack_size, const std::string& extent, Values& values,
                Writer& writer) {
    if (stack_size == 0) return;
    for (const RowSum& sum : sums)
        writer.line("copy_row(" + start_of(kernel, sum, values) + ", " + sum.part + ", " + extent +
                    ");");
}

}  // namespace fovea::emit
