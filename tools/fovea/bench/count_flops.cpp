#include "tools/fovea/bench/count_flops.h"

#include <set>

#include "codegen/graph/scan_function.h"
#include "codegen/kernel/kernel.h"

namespace fovea::tool {

double elements(const Shape& shape, const SampleDims& dims) {
    double count = 1;
    for (const Dim& dim : shape) count *= double(value_of(dim, dims));
    return count;
}

namespace {

double einsum_flops(const Graph& graph, const Node& node, const SampleDims& dims) {
    const EinsumAxes& axes = graph.einsums[std::size_t(node.attribute)];
    const Shape &a = graph[node.inputs[0]].shape, &b = graph[node.inputs[1]].shape;
    double count = elements(a, dims);
    for (int i = 0; i < axes.b.count; ++i)
        if (!axes.a.contains(axes.b.label[std::size_t(i)])) count *= double(value_of(b[i], dims));
    return 2 * count;
}

/// How many keys a query sees, on average.
double visible_keys(const KeyWindow& window, std::int64_t queries, std::int64_t keys) {
    double pairs = 0;
    for (std::int64_t query = 0; query < queries; ++query) {
        const std::int64_t end = std::min(keys, query + window.after + 1);
        const std::int64_t first = std::max<std::int64_t>(0, query - window.before);
        pairs += double(std::max<std::int64_t>(0, end - first));
    }
    return pairs / double(std::max<std::int64_t>(1, queries));
}

double attention_flops(const Graph& graph, const Node& node, const SampleDims& dims) {
    const AttentionAttributes& attributes = graph.attentions[std::size_t(node.attribute)];
    const Shape &q = graph[node.inputs[0]].shape, &k = graph[node.inputs[1]].shape;
    const auto queries = double(value_of(q[-2], dims)), keys = double(value_of(k[-2], dims));
    const double visible =
        visible_keys(attributes.window, std::int64_t(queries), std::int64_t(keys));
    const double heads = elements(q, dims) / queries / double(value_of(q[-1], dims));
    const Shape& v = graph[node.inputs[2]].shape;
    const auto width = double(value_of(q[-1], dims) + value_of(v[-1], dims));
    return 2 * heads * queries * visible * width;
}

bool is_arithmetic(const Node& node) {
    if (!is_float(node.dtype)) return false;
    if (node.op == Op::reduce) return true;
    return node.op == Op::elementwise && node.function != Elementwise::identity &&
           node.function != Elementwise::where;
}

bool is_gathered(const kernel::Kernel& kernel, int buffer) {
    for (const kernel::Node& node : kernel.nodes)
        if (const auto* load = std::get_if<kernel::Load>(&node.operation))
            if (load->access.buffer == buffer && load->access.row < 0) return false;
    return true;
}

}  // namespace

double product_flops(const Graph& graph, bool training, const SampleDims& dims) {
    double sum = 0;
    std::set<std::pair<const ScanFunction*, Inputs>> loops;
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const Node& node = graph[id];
        if (node.region != 0) continue;
        if (is_scan(graph, id)) {
            const ScanAttributes& scan = scan_of(graph, id);
            if (loops.insert({scan.function, node.inputs}).second)
                sum += double(value_of(scan.steps, dims)) *
                       product_flops(scan.function->step, training, dims);
        }
        if (node.op == Op::einsum) sum += (training ? 3 : 1) * einsum_flops(graph, node, dims);
        if (node.op == Op::attention)
            sum += (training ? 3.5 : 1) * attention_flops(graph, node, dims);
    }
    return sum;
}

double row_flops(const Graph& graph, bool backward, const SampleDims& dims) {
    double sum = 0;
    for (const Node& node : graph.nodes) {
        if (node.backward != backward || !is_arithmetic(node)) continue;
        sum += elements(node.op == Op::reduce ? graph[node.inputs[0]].shape : node.shape, dims);
    }
    return sum;
}

double kernel_flops(const Graph& graph, const fuse::Group& group, const SampleDims& dims) {
    double sum = 0, once = 0;  // of what several nodes are the results of
    for (const int id : group.nodes) {
        const Node& node = graph[id];
        if (node.op == Op::einsum) sum += einsum_flops(graph, node, dims);
        if (node.op == Op::fused_attention)
            once = (group.form == fuse::Form::attention ? 1 : 2.5) *
                   attention_flops(graph, node, dims);
        if (group.form == fuse::Form::scan && once == 0) {
            const ScanAttributes& scan = scan_of(graph, id);
            once = double(value_of(scan.steps, dims)) *
                   product_flops(scan.function->step, false, dims);
        }
        if (is_arithmetic(node))
            sum += elements(node.op == Op::reduce ? graph[node.inputs[0]].shape : node.shape, dims);
    }
    return sum + once;
}

double weight_bytes(const plan::Model& model, const plan::Program& program,
                    const SampleDims& dims) {
    std::set<int> read;
    for (const plan::Step& step : program.steps) {
        const kernel::Kernel& kernel = model.kernels[std::size_t(step.kernel)];
        for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
            if (!is_gathered(kernel, int(b))) read.insert(step.arguments[b]);
    }
    double bytes = 0;
    for (int number : read) {
        const plan::Tensor& tensor = program.tensors[std::size_t(number)];
        if (tensor.role == plan::Role::parameter || tensor.role == plan::Role::prepared)
            bytes += double(bytes_of(tensor, dims));
    }
    return bytes;
}

}  // namespace fovea::tool
