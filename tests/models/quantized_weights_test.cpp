// Products with weights of 8 and 4 bits against the reference, which has the values that these are:
// for all kinds of sizes, and the same bits whatever runs beside a row.
#include <doctest/doctest.h>

#include <fovea.h>

#include "codegen/choose_weights.h"
#include "runtime/session.h"
#include "runtime/threads.h"
#include "tests/models/misses.h"
#include "tests/random_seed.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/verify/verify_kernels.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

/// Depths that are groups, that end within one, and with an odd number of them; rows around panels.
void odd_layers(Scope s) {
    const Tensor x = s.input("x", {"batch", "len", {"width", 72}});
    const Tensor gate = linear(s / "gate", x, {"ffn", 100}, {.bias = false});
    const Tensor up = linear(s / "up", x, 100);
    s.output("gated", linear(s / "down", silu(gate) * up, 72) + x);
    s.output("narrow", relu(linear(s / "narrow", x, 5)));
    s.output("wide", linear(s / "wide", linear(s / "to_96", x, 96, {.bias = false}), 129));
    s.output("of_some", linear(s / "of_some", slice(x, 1, 0, 1) + slice(x, 2, 0, 72), 20));
    s.output("of_first", linear(s / "of_first", slice(x, 1, 0, 1), 20));
    const Tensor longer = s.input("longer", {"batch", Dim("len") + 1, 72});
    s.output("of_last", linear(s / "of_last", slice(longer, 1, 1, "len"), 50));
    s.output("from_few", linear(s / "from_few", linear(s / "to_3", x, 3), 33));
}

/// A table that is read by its rows, too, and heads as a product gives and takes them.
void tied_table(Scope s) {
    const Tensor table = s.parameter("table", {{"words", 70}, {"width", 40}}, Initial::normal);
    const Tensor x = gather(table, s.input("ids", {"batch", "len"}, i32));
    const auto heads = [&](const char* name) {
        return rearrange(linear(s / name, x, 40), "b t (h d) -> b h t d", {"h", 4});
    };
    const Tensor seen = attention(heads("q"), heads("k"), heads("v"), dot_product, causal);
    s.output("logits", linear(linear(s / "o", rearrange(seen, "b h t d -> b t (h d)"), 40), table));
}

LoadedModel with_weights(void (*build)(Scope), const char* weights, DType dtype = f32) {
    LoadedModel model;
    model.entry.name = "quantized";
    model.dtype = dtype;
    model.weights = *parse_weight_storage(weights);
    build(Scope{&model.graph});
    return model;
}

CompiledModel compiled_forward(const LoadedModel& model) {
    return compile(model, {runner_program(model, false, false, true)});
}

void check_products(void (*build)(Scope), const char* weights, DType dtype) {
    CAPTURE(std::string(weights));
    CAPTURE(name_of(dtype));
    const LoadedModel model = with_weights(build, weights, dtype);
    const CompiledModel all = compiled_forward(model);
    const auto generated = model_on({"cpu", ""}, all.plan, dtype, Optimized::little);
    for (const SampleDims& dims :
         {SampleDims{{"batch", 1}, {"len", 1}}, SampleDims{{"batch", 2}, {"len", 1}},
          SampleDims{{"batch", 1}, {"len", 4}}, SampleDims{{"batch", 3}, {"len", 67}}}) {
        const auto rows = verify_kernels(all.plan, all.programs[0], *generated,
                                         {dims, Sample::Lengths::one_is_zero, 3}, false);
        CHECK(!rows.empty());
        CHECK(test::misses(rows) == "");
    }
}

/// How many parameters lie as numbers.
int stored_among(const CompiledModel& model) {
    return int(std::ranges::count_if(
        model.plan.parameters, [](const plan::Tensor& tensor) { return bool(tensor.storage); }));
}

/// The bits of an output for these sizes, of a batch whose sequences are all the same.
std::vector<float> gated_rows(const runtime::Model& model, std::int64_t batch, std::int64_t len,
                              int threads) {
    runtime::set_threads(threads);
    runtime::Parameters parameters(model, {});
    parameters.initialize(7);
    runtime::Instance instance(model, "forward", parameters);
    instance.bind({{"batch", batch}, {"len", len}});
    float* const x = instance.input<float>("x");
    for (std::int64_t i = 0; i < batch * len * 72; ++i) x[i] = std::sin(float(i % 72) + 1);
    instance.run();
    const auto values = instance.output_values("gated");
    return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("products with weights of 8 and 4 bits are those of their values") {
    const std::vector<const char*> groups = {"int8:16", "int8:32", "int8:48", "int8:96",
                                             "int4:16", "int4:32", "int4:64", "int4:112"};
    for (const char* weights : test::turns_of(groups, 2)) check_products(odd_layers, weights, f32);
    const std::vector<const char*> bits = {"int8", "int4"};
    for (const char* weights : test::turns_of(bits, 2, 0)) {
        check_products(tied_table, weights, f32);
        check_products(odd_layers, weights, bf16);
    }
    for (const char* weights : test::turns_of(bits, 2, 1)) check_products(tied_table, weights, f16);
}

TEST_CASE("matrices that products and look-ups alone read lie as numbers") {
    CHECK(stored_among(compiled_forward(with_weights(odd_layers, "int8"))) == 10);
    CHECK(stored_among(compiled_forward(with_weights(tied_table, "int4"))) == 5);
    CHECK(stored_among(compiled_forward(with_weights(tied_table, "float32"))) == 0);
    const auto otherwise = [](Scope s) {
        const Tensor x = s.input("x", {"batch", 8});
        const Tensor square = s.parameter("square", {8, 8}, Initial::normal);
        s.output("across", einsum("b i, i o -> b o", x, square));
        const Tensor added = s.parameter("added", {8, 8}, Initial::normal);
        s.output("along", einsum("b i, o i -> b o", x, added));
        s.output("itself", added + 1.0);
    };
    const LoadedModel model = with_weights(otherwise, "int8");
    CHECK(stored_among(compiled_forward(model)) == 0);
    CHECK(*why_not_stored(model.graph, 2) ==
          "an op reads it, einsum, that is no product along its rows");
}

TEST_CASE("rows have the same bits with any number of threads and of rows beside them") {
    for (const char* weights : {"int8", "int4"}) {
        const CompiledModel all = compiled_forward(with_weights(odd_layers, weights));
        const auto model = model_on({"cpu", ""}, all.plan, f32, Optimized::little);
        const std::vector<float> one = gated_rows(*model, 1, 1, 1);
        for (const auto& [batch, len] : {std::pair{1, 2}, {3, 1}, {2, 2}, {5, 41}})
            for (int threads : {1, 2, 3}) {
                const std::vector<float> all_rows = gated_rows(*model, batch, len, threads);
                for (std::size_t i = 0; i < all_rows.size(); ++i)
                    if (all_rows[i] != one[i % 72]) {
                        FAIL_CHECK(weights, " ", batch, " x ", len, ", ", threads, " threads: ", i);
                        break;
                    }
            }
    }
    runtime::set_threads(2);
}

TEST_CASE("weights of numbers have no gradients, and no kernels for GPUs") {
    const LoadedModel model = with_weights(odd_layers, "int8");
    CHECK_THROWS_WITH_AS(compile(model, {runner_program(model, true, false, true)}),
                         "weights of int8:32 are for inference: program gradient has gradients; "
                         "leave out the setting `weights` for it",
                         UserError);
    CHECK_THROWS_WITH_AS(
        compile(model, {runner_program(model, false, false, true)}, Kernels::of_gpu),
        "weights of int8:32 have no kernels for GPUs: build quantized without the "
        "setting `weights` for them",
        UserError);
}

TEST_CASE("a program that lacks some of the weights of another is verified, too") {
    const LoadedModel model = with_weights(odd_layers, "int8");
    std::vector<ProgramRequest> requests(2, runner_program(model, false, false, true));
    requests[1].name = "narrow";
    requests[1].only = {"narrow"};
    const CompiledModel all = compile(model, requests);
    const auto generated = model_on({"cpu", ""}, all.plan, f32, Optimized::little);
    const SampleDims dims = {{"batch", 2}, {"len", 3}};
    const auto rows = verify_kernels(all.plan, all.programs[1], *generated,
                                     {dims, Sample::Lengths::one_is_zero, 3}, false);
    CHECK(rows.size() == 1);
    CHECK(test::misses(rows) == "");
}
