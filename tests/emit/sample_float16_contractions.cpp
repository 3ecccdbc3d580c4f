#include "codegen/kernel/builder.h"
#include "codegen/kernel/schedule.h"
#include "tests/emit/sample_kernels.h"

namespace fovea::test {

using namespace kernel;

namespace {

const Dim m = "m", n = "n";

/// Where a weight [column of the product, step] lies as panels of columns.
Access in_panels(int buffer, const Dim& columns, std::int64_t depth, AxisId column, AxisId step) {
    const int panel = panel_columns(columns, {});
    return {.buffer = buffer, .strides = {{step, Dim(panel)}, {column, Dim(depth * panel), panel}}};
}
std::vector<Dim> panels_shape(const Dim& columns, std::int64_t depth) {
    return {columns + Dim(panel_columns(columns, {})), Dim(depth)};
}

/// A dense layer whose weight lies in panels: bias, and relu, of rows in `x`.
Kernel dense(const std::string& name, const Dim& columns, std::int64_t depth, DType x_type) {
    Builder it(name);
    const AxisId i = it.axis("i", m), j = it.axis("j", columns), d = it.axis("d", depth);
    const int x = it.input("x", {m, depth}, x_type),
              w = it.input("w", panels_shape(columns, depth), f16),
              bias = it.input("bias", {columns});
    const int y = it.output("y", {m, columns}, f16);
    it.par({i, j}, [&] {
        const Id sum = it.contract(it.load(it.at(x, {i, d})),
                                   it.load(in_panels(w, columns, depth, j, d)), {d}, Factors::f16);
        it.store(it.at(y, {i, j}),
                 it.map(Elementwise::relu, {it.add(sum, it.load(it.at(bias, {j})))}));
    });
    return it.finish();
}

/// The copy that makes such a weight.
Kernel panels_of_weight(const std::string& name, const Dim& columns, std::int64_t depth) {
    Builder it(name);
    const AxisId j = it.axis("j", columns), d = it.axis("d", depth);
    const int w = it.input("w", {columns, depth});
    const int panels = it.output("panels", panels_shape(columns, depth), f16);
    it.each(d,
            [&] { it.store(in_panels(panels, columns, depth, j, d), it.load(it.at(w, {j, d}))); });
    return it.finish();
}

/// One row: every panel of the weight is read once.
Kernel matrix_vector() {
    Builder it("float16_matrix_vector");
    const AxisId j = it.axis("j", n), d = it.axis("d", 33);
    const int x = it.input("x", {33}, f16), w = it.input("w", panels_shape(n, 33), f16);
    const int y = it.output("y", {n}, f16);
    it.par(j, [&] {
        it.store(it.at(y, {j}), it.contract(it.load(it.at(x, {d})),
                                            it.load(in_panels(w, n, 33, j, d)), {d}, Factors::f16));
    });
    return it.finish();
}

bool lies_in_pairs(const Kernel& kernel) {
    for (const Node& node : kernel.nodes) {
        const auto* load = std::get_if<Load>(&node.operation);
        const auto* store = std::get_if<Store>(&node.operation);
        if (!load && !store) continue;
        for (const Stride& stride : load ? load->access.strides : store->access.strides)
            if (stride.panel == 2) return true;
    }
    return false;
}

}  // namespace

Kernel in_float16(Kernel kernel) {
    kernel.name += "_f16";
    for (Buffer& buffer : kernel.buffers)
        if (buffer.dtype == bf16) buffer.dtype = f16;
    for (Node& node : kernel.nodes) {
        if (auto contract = std::get_if<Contract>(&node.operation);
            contract && contract->factors == Factors::bf16)
            contract->factors = Factors::f16;
        if (auto map = std::get_if<Map>(&node.operation); map && map->cast_to == bf16)
            map->cast_to = f16;
    }
    return kernel;
}

std::vector<Kernel> in_float16(const std::vector<Kernel>& kernels) {
    std::vector<Kernel> result;
    for (const Kernel& kernel : kernels) result.push_back(in_float16(kernel));
    return result;
}

std::vector<Kernel> sample_float16_contractions() {
    std::vector<Kernel> kernels = {
        dense("float16_dense", n, 33, f16),     dense("float16_dense_128", 128, 24, f16),
        dense("float16_dense_20", 20, 24, f16), panels_of_weight("panels", n, 24),
        panels_of_weight("panels_80", 80, 70),  matrix_vector()};
    for (const Kernel& kernel : sample_bfloat16_contractions())
        if (!lies_in_pairs(kernel)) kernels.push_back(in_float16(kernel));
    return kernels;
}

std::vector<Kernel> sample_contractions_to_float16() {
    std::vector<Kernel> kernels = in_float16(sample_rounded_contractions());
    kernels.push_back(dense("rounded_dense", n, 33, f32));
    kernels.push_back(dense("bfloat16_dense", 80, 24, bf16));
    return kernels;
}

}  // namespace fovea::test
