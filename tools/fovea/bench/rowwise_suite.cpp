// Kernels over rows: normalisations and losses, which memory bounds.
#include "dsl/fovea.h"
#include "tools/fovea/bench/kernel_suite.h"
#include "tools/fovea/bench/suites.h"
#include "tools/fovea/plan_table.h"

namespace fovea::tool {

namespace {

constexpr std::int64_t kHidden = 512;

/// A kernel over `x`, the tensor that is normalised. Bytes are counted in passes over it.
struct RowKernel {
    const char* name;
    void (*build)(Scope s);
    SampleDims dims, quick_dims;
    double passes_forward, passes_backward;
};

void softmax_rows(Scope s) { s.output("y", softmax(s.input("x", {"batch", "queries", "keys"}))); }
void masked_softmax_rows(Scope s) {
    Tensor x = s.input("x", {"batch", "queries", "keys"});
    s.output("y", masked_softmax(x, padding(s.input("lens", {"batch"}, i32))));
}
Tensor normed(Scope s, Tensor x) {
    return layer_norm(x, s.input("weight", {kHidden}), s.input("bias", {kHidden}));
}
void layer_norm_rows(Scope s) { s.output("y", normed(s, s.input("x", {"batch", "len", kHidden}))); }
void add_norm_rows(Scope s) {
    Dim batch = "batch", len = "len";
    Tensor x = s.input("x", {batch, len, kHidden});
    s.output("y", normed(s, x + s.input("residual", {batch, len, kHidden})));
}
void cross_entropy_rows(Scope s) {
    Tensor x = s.input("x", {"batch", "len", "classes"});
    Tensor labels = s.input("labels", {"batch", "len"}, i32);
    s.output("loss", cross_entropy(x, labels, s.input("lens", {"batch"}, i32)));
}

std::vector<RowKernel> row_kernels() {
    const SampleDims scores{{"batch", 64}, {"queries", 512}, {"keys", 512}};
    const SampleDims few_scores{{"batch", 2}, {"queries", 5}, {"keys", 24}};
    const SampleDims tokens{{"batch", 32}, {"len", 512}}, few_tokens{{"batch", 2}, {"len", 5}};
    const SampleDims logits{{"batch", 16}, {"len", 64}, {"classes", 8000}};
    const SampleDims few_logits{{"batch", 2}, {"len", 5}, {"classes", 24}};
    // Backward: softmax reads y and its gradient; layer norm x and that of y; add_norm both
    // addends, and writes the gradients of both; cross entropy only has the logits to read.
    return {{"softmax", softmax_rows, scores, few_scores, 2, 3},
            {"masked_softmax", masked_softmax_rows, scores, few_scores, 2, 3},
            {"layer_norm", layer_norm_rows, tokens, few_tokens, 2, 3},
            {"add_norm", add_norm_rows, tokens, few_tokens, 3, 5},
            {"cross_entropy", cross_entropy_rows, logits, few_logits, 1, 2}};
}

double elements_of_x(const SampleDims& dims) {
    double count = dims.count("keys") || dims.count("classes") ? 1 : double(kHidden);
    for (const auto& [name, size] : dims) count *= double(size);
    return count;
}

KernelCase row_case(const RowKernel& kernel, bool backward, bool quick) {
    KernelCase result{.program = kernel.name};
    Work& work = result.work;
    work.name = kernel.name;
    work.pass = backward ? "backward" : "forward";
    work.dims = quick ? kernel.quick_dims : kernel.dims;
    work.bytes =
        4 * (backward ? kernel.passes_backward : kernel.passes_forward) * elements_of_x(work.dims);
    return result;
}

}  // namespace

std::vector<BenchRow> bench_rowwise(Bench& bench) {
    KernelSuite suite("rowwise");
    const std::vector<RowKernel> kernels = row_kernels();
    for (bool backward : {false, true})
        for (const RowKernel& kernel : kernels) {
            Graph graph;
            kernel.build(Scope{&graph});
            suite.add_program(kernel.name, graph, true);
            suite.add_case(row_case(kernel, backward, bench.quick()));
        }
    return suite.run(bench);
}

}  // namespace fovea::tool
