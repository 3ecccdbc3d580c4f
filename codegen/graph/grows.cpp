#include "codegen/graph/grows.h"

#include <algorithm>

#include "codegen/graph/node.h"

namespace fovea {

namespace {

std::ptrdiff_t axes_of(const Shape& shape) {
    return std::count_if(shape.begin(), shape.end(), [](const Dim& dim) { return !dim.is_one(); });
}

}  // namespace

bool grows(const Graph& step, int id, const std::vector<bool>& varies) {
    const Node& node = step[id];
    if (node.op == Op::broadcast) return true;
    if (node.op != Op::elementwise) return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
        return input <= 0 || !varies[std::size_t(input)] ||
               axes_of(step[input].shape) < axes_of(node.shape) || grows(step, input, varies);
    });
}

}  // namespace fovea
