// Models whose tensors are bfloat16 and float16, each kernel against the reference, forward and
// backward: every elementwise function, and ops of every kind; on the CPU and in PTX.
#include <doctest/doctest.h>

#include <fovea.h>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "tests/models/misses.h"
#include "tests/random_seed.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/verify/verify_kernels.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

/// Each of tensors [n, 5] of its own.
void every_function(Scope s, DType type) {
    for (const ElementwiseRow& row : kElementwise) {
        // The last two take parts of an exponential, which kernels make for themselves.
        if (row.takes == Takes::booleans || row.function == Elementwise::tanh_of_exp ||
            row.function == Elementwise::sigmoid_of_exp)
            continue;
        const auto input = [&](const char* name) {
            const std::string own = std::string(row.name) + name;
            return s.input(intern(own), {"n", Dim(5)}, type);
        };
        // In the domain of logarithms and powers, and away from the jumps of others.
        const Tensor x = input("_x"), a = exp(x * 0.25);
        Tensor result;
        if (row.arity == 1) result = unary(row.function, a);
        else {
            const Tensor y = input("_y"), b = exp(y * 0.25);
            if (row.function == Elementwise::where) result = where(x < y, a, b);
            else if (row.arity == 2) result = binary(row.function, a, b);
            else result = detail::ternary(row.function, a, b, input("_z"));
        }
        s.output(intern(std::string(row.name) + "_of_x"), cast(result, type));
    }
}

void ops_of_every_kind(Scope s, DType type) {
    const Dim width("width", 24);
    const Tensor x = s.input("x", {"batch", "len", width}, type),
                 y = s.input("y", {"batch", "len", width}, type),
                 ids = s.input("ids", {"batch", "len"}, i32);
    s.output("norm", layer_norm(s / "ln", x + y));
    s.output("soft", softmax(x * y * 4.0));
    s.output("dense", relu(linear(s / "dense", x, {"out", 37})));
    s.output("mean", mean(x * y, 1));
    s.output("largest", amax(x - y, -1));
    s.output("where", where(x < y, x, y * 2.0));
    s.output("joined", rearrange(concat({x, y * 0.5}, 1), "b t w -> b w t"));
    s.output("products", einsum("b t w, b u w -> b t u", x, y));
    s.output("looked_up", gather(s.parameter("table", {11, width}, Initial::normal, type), ids));
    s.output("added", scatter_add(x, ids, 11));
    s.output("running", cumsum(x, 1));
    s.output("dropped", dropout(x, 0.25));
}

void attention_of_layers(Scope s, DType type) {
    const Tensor x = s.input("x", {"batch", "len", {"width", 32}}, type);
    const Tensor lens = s.input("lens", {"batch"}, i32);
    const auto heads = [&](const char* name) {
        return rearrange(linear(s / name, x, {"hidden", 32}), "b t (h d) -> b h t d", {"h", 2});
    };
    const Tensor seen = attention(heads("queries"), heads("keys"), heads("values"), dot_product,
                                  causal & padding(lens));
    s.output("seen", rearrange(seen, "b h t d -> b t (h d)"));
}

/// A weight that a loop over time reads as it is, and a product outside of it in the memory's type.
void loop_over_time(Scope s, DType type) {
    const Tensor x = s.input("x", {"len", "batch", 11}, type);
    const Tensor w = s.parameter("w", {11, 11}, Initial::xavier_uniform, type);
    const Tensor start = linear_product(slice(x, 0, 0, 1), w);
    const auto step = [&](Tensor one, Tensor state) {
        const Tensor next = tanh(linear_product(state, w) + one);
        return Step<Tensor, Tensor>{next, next};
    };
    const auto [all, last] = scan(x, squeeze(start, 0), step);
    s.output("all", all);
    s.output("last", last);
}

void check_kernels_of(const char* name, void (*build)(Scope, DType), DType type, DType memory,
                      const Target& target) {
    CAPTURE(std::string(name));
    CAPTURE(name_of(type));
    CAPTURE(name_of(memory));
    CAPTURE(target.name);
    LoadedModel model;
    model.entry.name = name;
    model.dtype = memory;
    build(Scope{&model.graph}, type);
    const CompiledModel compiled =
        compile(model, {runner_program(model, true, true, true)}, kernels_of(target));
    const auto generated = model_on(target, compiled.plan, memory, Optimized::little);
    for (const SampleDims& dims : {SampleDims{{"n", 1}, {"batch", 1}, {"len", 1}},
                                   SampleDims{{"n", 7}, {"batch", 3}, {"len", 19}}}) {
        const Sample sample{dims, Sample::Lengths::one_is_zero, 3};
        const auto rows =
            verify_kernels(compiled.plan, compiled.programs[0], *generated, sample, true);
        CHECK(!rows.empty());
        CHECK(test::misses(rows) == "");
    }
}

/// The same of both halves takes turns: a target takes of bfloat16 what the other takes of float16.
void check_on(const Target& target, std::size_t turn) {
    const std::vector<DType> halves = {bf16, f16};
    for (const DType type : test::turns_of(halves, 2, turn)) {
        check_kernels_of("every_function", every_function, type, f32, target);
        check_kernels_of("ops_of_every_kind", ops_of_every_kind, type, f32, target);
        check_kernels_of("attention_of_layers", attention_of_layers, type, f32, target);
    }
    for (const DType memory : test::turns_of(halves, 2, turn + 1)) {
        check_kernels_of("loop_over_time", loop_over_time, f32, memory, target);
        check_kernels_of("attention_in_halves", attention_of_layers, f32, memory, target);
    }
    // Of float32, with float16 in memory; and one half among the other.
    check_kernels_of("ops_in_float16", ops_of_every_kind, f32, f16, target);
    check_kernels_of("bfloat16_in_float16", ops_of_every_kind, bf16, f16, target);
    check_kernels_of("float16_in_bfloat16", ops_of_every_kind, f16, bf16, target);
}

}  // namespace

TEST_CASE("kernels of bfloat16 and float16 are right on the CPU") { check_on({"cpu", ""}, 0); }

TEST_CASE("kernels of bfloat16 and float16 are right in PTX") {
    if (emit::why_not_ptx()) return;
    check_on({"ptx-interpreter", "sm_80"}, 1);
}
