// Rows that a mask hides from some position on: what lies past it is neither read nor computed, and
// comes out as the evaluator has it.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "codegen/kernel/builder.h"
#include "tests/emit/compiled_model.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;
using E = Elementwise;

namespace {

const Dim kRows = "m", kKeys = "n", kBatch = "b";

/// Masked weights and the gradient of their scores, at once: causal, with a length for each row;
/// `zero`: a row that sees nothing is 0.
Kernel masked_softmax(const std::string& name, const Dim& keys, bool zero) {
    Builder it(name);
    const AxisId batch = it.axis("batch", kBatch), row = it.axis("row", kRows),
                 key = it.axis("key", keys);
    const int x = it.input("x", {kBatch, kRows, keys}), dy = it.input("dy", {kBatch, kRows, keys});
    const int lens = it.input("lens", {kBatch, kRows}, i32);
    const int y = it.output("y", {kBatch, kRows, keys}),
              dx = it.output("dx", {kBatch, kRows, keys});
    it.each({batch, row}, [&] {
        const Id length = it.load(it.at(lens, {batch, row})), position = it.index(key);
        const Id kept =
            it.map(E::logical_and, {it.lt(position, length), it.le(position, it.index(row))});
        const Id scores = it.where(kept, it.load(it.at(x, {batch, row, key})), it.constant(-1e6));
        const Id e = it.map(E::exp, {it.sub(scores, it.max(scores, {key}))});
        const Id p = it.mul(e, it.div(it.constant(1), it.sum(e, {key})));
        const Id seen = it.where(kept, p, it.constant(0));
        it.store(it.at(y, {batch, row, key}), zero ? seen : p);
        const Id of_weights = it.load(it.at(dy, {batch, row, key}));
        const Id delta = it.sum(it.mul(of_weights, seen), {key});
        it.store(it.at(dx, {batch, row, key}), it.mul(seen, it.sub(of_weights, delta)));
    });
    return it.finish();
}

std::vector<Kernel> kernels() {
    return {masked_softmax("uniform", kKeys, false), masked_softmax("zero", kKeys, true),
            masked_softmax("of_32", 32, false), masked_softmax("of_21", 21, true)};
}

}  // namespace

TEST_CASE("masked rows agree with the evaluator") {
    for (const std::string& isa : isas_by_turns()) {
        CAPTURE(isa);
        const std::vector<Kernel> all = kernels();
        const runtime::Model& model =
            compile_and_load(model_of_kernels("masked", all), isa, optimization_for(isa));
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::int64_t rows : {1, 5, 17, 40})
                for (std::int64_t keys : {1, 7, 16, 33}) {
                    CAPTURE(all[i].name);
                    CAPTURE(rows);
                    CAPTURE(keys);
                    const DimValues dims{{"m", rows}, {"n", keys}, {"k", 1}, {"b", 2}};
                    Arrays one(all[i], dims, int(keys) + 3, 3), two = one;
                    for (std::size_t a = 0; a < two.addresses.size(); ++a)
                        two.addresses[a] = all[i].buffers[a].dtype == DType::i32
                                               ? static_cast<void*>(two.integers[a].data())
                                               : two.floats[a].data();
                    run_program(model, int(i), dims, one, 1);
                    run_program(model, int(i), dims, two, 3);
                    CHECK(same_bits(one, two));
                    check_against_evaluator(all[i], dims, one, 3e-6);
                }
    }
}

TEST_CASE("what a mask hides is not looked at, and exactly 0 comes out") {
    const std::vector<Kernel> all = kernels();
    const std::string isa = isas_here().front();
    const runtime::Model& model = compile_and_load(model_of_kernels("hidden", all), isa);
    const std::int64_t rows = 24, keys = 50;
    for (std::size_t i = 0; i < 2; ++i) {
        const DimValues dims{{"m", rows}, {"n", keys}, {"k", 1}, {"b", 1}};
        Arrays arrays(all[i], dims, int(keys), 5);
        std::vector<std::int64_t> seen;
        for (std::int64_t row = 0; row < rows; ++row) {
            std::int32_t& length = arrays.integers[2][std::size_t(row)];
            length = std::max(length, 1);
            seen.push_back(std::min<std::int64_t>(length, row + 1));
            for (int buffer : {0, 1})
                std::fill(arrays.floats[std::size_t(buffer)].begin() + row * keys + seen.back(),
                          arrays.floats[std::size_t(buffer)].begin() + (row + 1) * keys,
                          std::numeric_limits<float>::quiet_NaN());
        }
        run_program(model, int(i), dims, arrays, 2);
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t key = 0; key < keys; ++key)
                for (std::size_t buffer : {3, 4}) {
                    const float value = arrays.floats[buffer][std::size_t(row * keys + key)];
                    if (key < seen[std::size_t(row)]) CHECK(std::abs(value) < 10);
                    else CHECK(value == 0);
                }
    }
}
