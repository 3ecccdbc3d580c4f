#include "codegen/kernel/builder.h"
#include "codegen/kernel/rewrites/collapse_axes.h"
#include "codegen/kernel/schedule.h"
#include "tests/emit/sample_kernels.h"

namespace fovea::test {

using namespace kernel;
using E = Elementwise;

namespace {

const Dim m = "m", n = "n", k = "k", b = "b";

enum class Weights { by_column, by_row, in_panels, in_pairs };

/// y = silu(x g) * (x u) for [b, m] rows of x, sums kept.
struct Gated {
    const char* name;
    Dim columns = n, depth = k;
    Weights weights = Weights::by_column;
    bool keeps = false, transposed_x = false;
    Factors factors = Factors::f32;
    DType type = f32;
};

Kernel gated(const Gated& g) {
    Builder it(g.name);
    const AxisId batch = it.axis("batch", b), i = it.axis("i", m), j = it.axis("j", g.columns);
    const AxisId d = it.axis("d", g.depth);
    const int panel = panel_columns(g.columns, {});
    const auto weight = [&](const char* name) -> Access {
        switch (g.weights) {
            case Weights::by_column:
                return it.at(it.input(name, {g.columns, g.depth}, g.type), {j, d});
            case Weights::by_row:
                return it.at(it.input(name, {g.depth, g.columns}, g.type), {d, j});
            case Weights::in_panels:
                return {.buffer = it.input(name, {g.columns + Dim(panel), g.depth}, g.type),
                        .strides = {{d, Dim(panel)}, {j, g.depth * Dim(panel), panel}}};
            case Weights::in_pairs: break;
        }
        const std::int64_t pairs = (g.depth.value() + 1) / 2;
        return {.buffer = it.input(name, {g.columns + Dim(panel), Dim(pairs), 2}, bf16),
                .strides = {{d, Dim(2 * panel), 2}, {j, Dim(pairs * 2 * panel), panel, 2}}};
    };
    const int x = g.transposed_x ? it.input("x", {b, g.depth, m}, g.type)
                                 : it.input("x", {b, m, g.depth}, g.type);
    const Access gate_weight = weight("gate_weight"), up_weight = weight("up_weight");
    const int bias = it.input("bias", {g.columns});
    const int y = it.output("y", {b, m, g.columns});
    it.each(batch, [&] {
        it.par({i, j}, [&] {
            const auto rows = [&] {
                return it.load(g.transposed_x ? it.at(x, {batch, d, i}) : it.at(x, {batch, i, d}));
            };
            const Id gate =
                it.named(it.contract(rows(), it.load(gate_weight), {d}, g.factors), "gate");
            const Id up = it.contract(rows(), it.load(up_weight), {d}, g.factors);
            const Id open = it.mul(gate, it.map(E::sigmoid, {gate}));
            if (g.keeps) {
                it.store(it.at(it.output("gates", {b, m, g.columns}), {batch, i, j}), gate);
                it.store(it.at(it.output("ups", {b, m, g.columns}), {batch, i, j}), up);
            }
            it.store(it.at(y, {batch, i, j}), it.add(it.mul(open, up), it.load(it.at(bias, {j}))));
        });
    });
    Kernel result = it.finish();
    collapse_axes(result);
    return result;
}

}  // namespace

std::vector<Kernel> sample_gated_products() {
    return {gated({"gated"}),
            gated({.name = "gated_kept", .weights = Weights::by_row, .keeps = true}),
            gated({.name = "gated_64", .columns = 64, .depth = 32}),
            gated({.name = "gated_panels", .weights = Weights::in_panels, .keeps = true}),
            gated({.name = "gated_panels_96", .columns = 96, .weights = Weights::in_panels}),
            gated({.name = "gated_transposed", .columns = 40, .transposed_x = true})};
}

std::vector<Kernel> sample_gated_bfloat16_products() {
    const Gated half{.name = "gated_half", .factors = Factors::bf16, .type = bf16};
    Gated even = half, pairs = half, rows = half, wide = half;
    even.name = "gated_half_64", even.columns = 64, even.depth = 64, even.keeps = true;
    pairs.name = "gated_pairs", pairs.depth = 35, pairs.weights = Weights::in_pairs;
    rows.name = "gated_half_rows", rows.weights = Weights::by_row, rows.keeps = true;
    wide.name = "gated_half_wide", wide.columns = 320, wide.depth = 72;
    return {gated(half), gated(even), gated(pairs), gated(rows), gated(wide)};
}

std::vector<Kernel> sample_gated_float16_products() {
    std::vector<Kernel> kernels = in_float16(sample_gated_bfloat16_products());
    std::erase_if(kernels, [](const Kernel& kernel) { return kernel.name == "gated_pairs_f16"; });
    return kernels;
}

}  // namespace fovea::test
