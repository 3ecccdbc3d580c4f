// Copies of weights as pairs of bfloat16, in squares of 16 rows and 16 pairs of columns.
#include <algorithm>

#include "codegen/emit/cpp/shared_loops.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/cpp/values.h"

namespace fovea::emit {

using namespace kernel;

bool write_pairs_kernel(const Kernel& kernel, const LoopNest& nest, Signature& signature,
                        Writer& writer) {
    if (nest.nodes.size() != 2) return false;
    const Load* load = as<Load>(kernel, nest.nodes[0]);
    const Store* store = as<Store>(kernel, nest.nodes[1]);
    if (!load || !store || store->access.strides.size() != 2) return false;
    const auto& strides = store->access.strides;
    const auto columns = std::find_if(strides.begin(), strides.end(), [](const Stride& stride) {
        return stride.panel == 2 && stride.step == 1;
    });
    const auto rows = std::find_if(strides.begin(), strides.end(),
                                   [](const Stride& stride) { return stride.step == 2; });
    if (columns == strides.end() || rows == strides.end()) return false;

    const std::string &row = signature.axis(rows->axis), &column = signature.axis(columns->axis);
    const Expression &height = signature.extent(rows->axis),
                     &width = signature.extent(columns->axis);
    open_shared_loops({{row, height, "kLanes"}, {column, width, "2 * kLanes"}}, signature, writer);
    Values values(kernel, signature, writer);
    const Dim from_row = stride_along(load->access.strides, rows->axis);
    writer.line("copy_pairs(" + values.start(store->access).text + ", " +
                spell(columns->stride).text + ", " + values.start(load->access).text + ", " +
                spell(from_row).text + ", lanes_at(" + row + ", " + height.text + "), " +
                width.in(Binding::sum) + " - " + column + ");");
    writer.close();
    return true;
}

}  // namespace fovea::emit
