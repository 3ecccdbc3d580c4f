// Emitted kernels, compiled and run: against the float64 evaluator over odd sizes, and bit by bit
// over the number of threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/emit/compiled_model.h"
#include "tests/emit/sample_kernels.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

const std::vector<DimValues>& sizes() {
    static const std::vector<DimValues> all = [] {
        std::vector<DimValues> result;
        const std::int64_t odd[] = {0, 1, 7, 16, 17, 33, 100};
        for (std::int64_t m : odd)
            for (std::int64_t n : odd)
                result.push_back({{"m", m}, {"n", n}, {"k", n + 3}, {"b", 2}});
        result.push_back({{"m", 5}, {"n", 40}, {"k", 0}, {"b", 3}});
        result.push_back({{"m", 9}, {"n", 64}, {"k", 65}, {"b", 1}});
        return result;
    }();
    return all;
}

void check_all(const std::string& name, const std::vector<Kernel>& kernels, double tolerance,
               const std::string& isa) {
    CAPTURE(isa);
    const runtime::Model& model =
        compile_and_load(model_of_kernels(name, kernels), isa, optimization_for(isa));
    REQUIRE(model.programs.size() == kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (const DimValues& dims : sizes()) {
            CAPTURE(kernels[i].name);
            CAPTURE(dims.at("m"));
            CAPTURE(dims.at("n"));
            Arrays one(kernels[i], dims, 7, 11), two(kernels[i], dims, 7, 11);
            Arrays three(kernels[i], dims, 7, 11);
            run_program(model, int(i), dims, one, 1);
            run_program(model, int(i), dims, two, 2);
            run_program(model, int(i), dims, three, 3);
            CHECK(same_bits(one, two));
            CHECK(same_bits(one, three));
            check_against_evaluator(kernels[i], dims, one, tolerance);
        }
}

/// Whether what a kernel wrote for each of `few` rows is what it wrote for the first of `all`.
bool begin_alike(const Kernel& kernel, const Arrays& a, const Arrays& b, std::int64_t few,
                 std::int64_t all) {
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
        const kernel::Buffer& buffer = kernel.buffers[i];
        if (!buffer.written || buffer.shape[0] != Dim("m")) continue;
        const auto end = std::ptrdiff_t(b.exact[i].size()) / all * few;
        const bool alike =
            is_half(buffer.dtype)
                ? std::equal(a.halves[i].begin(), a.halves[i].begin() + end, b.halves[i].begin())
                : std::equal(a.floats[i].begin(), a.floats[i].begin() + end, b.floats[i].begin());
        if (!alike) return false;
    }
    return true;
}

/// Runs a kernel whose inputs start alike for every number of rows m; the first rows must too.
void check_rows_alone(const runtime::Model& model, int number, const Kernel& kernel, Arrays& all,
                      DimValues dims) {
    run_program(model, number, dims, all, 2);
    const std::int64_t all_rows = dims.at("m");
    for (std::int64_t rows : {1, 2, 3, 5, 6, 8, 13, 30}) {
        CAPTURE(kernel.name);
        CAPTURE(rows);
        Arrays some = all;
        for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
            const DType dtype = kernel.buffers[i].dtype;
            some.addresses[i] = some.floats[i].data();
            if (is_half(dtype)) some.addresses[i] = some.halves[i].data();
            if (dtype == DType::i32) some.addresses[i] = some.integers[i].data();
            if (!kernel.buffers[i].written) continue;
            std::fill(some.floats[i].begin(), some.floats[i].end(), 0.F);
            std::fill(some.halves[i].begin(), some.halves[i].end(), std::uint16_t(0));
        }
        dims["m"] = rows;
        run_program(model, number, dims, some, 2);
        CHECK(begin_alike(kernel, some, all, rows, all_rows));
    }
}

/// The same of the kernels that have one of the names, compiled for each instruction set.
void check_rows_alone(const std::string& program, const std::vector<Kernel>& kernels,
                      const std::set<std::string>& names, const std::vector<std::string>& isas) {
    std::vector<Kernel> chosen;
    for (const Kernel& kernel : kernels)
        if (names.contains(kernel.name)) chosen.push_back(kernel);
    REQUIRE(chosen.size() == names.size());
    for (const std::string& isa : isas) {
        CAPTURE(isa);
        const runtime::Model& model = compile_and_load(model_of_kernels(program, chosen), isa);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const DimValues dims{{"m", 41}, {"n", 200}, {"k", 70}, {"b", 1}};
            Arrays all(chosen[i], dims, 7, 5);
            check_rows_alone(model, int(i), chosen[i], all, dims);
        }
    }
}

/// Instruction sets of this machine, which have one text: all where FOVEA_WHOLE is set, else one by
/// chance.
std::vector<std::string> some_isas(bool bfloat16 = false) {
    const std::vector<std::string> all = isas_here({bfloat16});
    if (takes_all()) return all;
    return {all[random_seed() % all.size()]};
}

}  // namespace

TEST_CASE("a row's bits do not depend on the rows beside it") {
    check_rows_alone("alone", sample_contractions(),
                     {"product_nn", "product_nt", "product_64", "product_80_t", "matrix_vector",
                      "dense_32", "dense"},
                     isas_by_turns());
    check_rows_alone("rows_alone", sample_row_kernels(),
                     {"layer_norm", "layer_norm_32", "cross_entropy_40"}, isas_by_turns());
}

TEST_CASE("a product whose rows are packed in several blocks has the bits of one in one block") {
    const std::vector<Kernel> kernels = sample_packed_products();
    for (const std::string& isa : isas_by_turns()) {
        CAPTURE(isa);
        const runtime::Model& model = compile_and_load(model_of_kernels("packed", kernels), isa);
        const DimValues dims{{"m", 5000}, {"n", 1}, {"k", 1}, {"b", 1}};
        Arrays one(kernels[0], dims, 7, 3), five(kernels[0], dims, 7, 3);
        run_program(model, 0, dims, one, 1);
        run_program(model, 0, dims, five, 5);
        CHECK(same_bits(one, five));
    }
}

TEST_CASE("a row's bits do not depend on how far it is padded") {
    const Kernel softmax = sample_row_kernels()[0];
    const std::string isa = isas_here().front();
    const runtime::Model& model = compile_and_load(model_of_kernels("padded", {softmax}), isa);
    std::vector<float> shortest;
    for (std::int64_t keys : {21, 32, 33, 100, 257}) {
        CAPTURE(keys);
        const DimValues dims{{"m", 1}, {"n", keys}, {"k", 1}, {"b", 1}};
        Arrays arrays(softmax, dims, 7, 9);
        arrays.integers[1][0] = 21;
        run_program(model, 0, dims, arrays, 1);
        const std::vector<float> valid(arrays.floats[2].begin(), arrays.floats[2].begin() + 21);
        if (shortest.empty()) shortest = valid;
        CHECK(valid == shortest);
        for (std::int64_t key = 21; key < keys; ++key)
            CHECK(arrays.floats[2][std::size_t(key)] == 0);
    }
}

TEST_CASE("row kernels agree with the evaluator") {
    for (const std::string& isa : some_isas()) check_all("rows", sample_row_kernels(), 3e-6, isa);
}

TEST_CASE("column kernels agree with the evaluator") {
    for (const std::string& isa : some_isas())
        check_all("columns", sample_column_kernels(), 3e-6, isa);
}

TEST_CASE("contractions agree with the evaluator") {
    for (const std::string& isa : some_isas())
        check_all("contractions", sample_contractions(), 2e-6, isa);
}

TEST_CASE("packed products agree with the evaluator") {
    for (const std::string& isa : some_isas())
        check_all("packed", sample_packed_products(), 2e-6, isa);
}

TEST_CASE("products by block of rows agree with the evaluator") {
    for (const std::string& isa : some_isas())
        check_all("products_by_block", sample_products_by_block(), 2e-6, isa);
}

TEST_CASE("gated products agree with the evaluator") {
    for (const std::string& isa : some_isas())
        check_all("gated", sample_gated_products(), 3e-6, isa);
    for (const std::string& isa : some_isas())
        check_all("gated_float16", sample_gated_float16_products(), 1e-5, isa);
    for (const std::string& isa : some_isas(true))
        check_all("gated_halves", sample_gated_bfloat16_products(), 1e-5, isa);
}

TEST_CASE("contractions of bfloat16 agree with the evaluator") {
    for (const std::string& isa : some_isas(true)) {
        check_all("bfloat16_products", sample_bfloat16_contractions(), 3e-6, isa);
        check_all("rounded_products", sample_rounded_contractions(), 1. / 64, isa);
    }
}

TEST_CASE("contractions of float16 agree with the evaluator") {
    for (const std::string& isa : some_isas()) {
        check_all("float16_products", sample_float16_contractions(), 3e-6, isa);
        check_all("products_to_float16", sample_contractions_to_float16(), 1. / 512, isa);
    }
}

TEST_CASE("a row's bits of float16 products do not depend on the rows beside it") {
    check_rows_alone(
        "float16_alone", sample_float16_contractions(),
        {"half_nn_f16", "half_nt_f16", "half_64_f16", "float16_dense", "float16_dense_128"},
        some_isas());
}

TEST_CASE("a row's bits of bfloat16 products do not depend on the rows beside it") {
    check_rows_alone("halves_alone", sample_bfloat16_contractions(),
                     {"half_nn", "half_nt", "half_64", "half_dense", "half_dense_128"},
                     some_isas(true));
}
