// NaN stays NaN in generated code, wherever in a vector or a row it lies.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "codegen/kernel/analysis/maximum_of_softmax.h"
#include "codegen/kernel/builder.h"
#include "tests/emit/compiled_model.h"

using namespace fovea;
using namespace fovea::test;
using namespace fovea::kernel;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// relu, the larger and the smaller of two, over rows of n.
Kernel pairs() {
    Builder it("pairs");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", "n");
    const int x = it.input("x", {"m", "n"}), z = it.input("z", {"m", "n"});
    const int positive = it.output("positive", {"m", "n"}),
              larger = it.output("larger", {"m", "n"});
    const int smaller = it.output("smaller", {"m", "n"});
    it.each(i, [&] {
        const Id a = it.load(it.at(x, {i, j})), b = it.load(it.at(z, {i, j}));
        it.store(it.at(positive, {i, j}), it.map(Elementwise::relu, {a}));
        it.store(it.at(larger, {i, j}), it.map(Elementwise::maximum, {a, b}));
        it.store(it.at(smaller, {i, j}), it.map(Elementwise::minimum, {a, b}));
    });
    return it.finish();
}

/// The largest of each row, and how far its elements lie below it.
Kernel largest() {
    Builder it("largest");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", "n");
    const int x = it.input("x", {"m", "n"});
    const int y = it.output("y", {"m"}), below = it.output("below", {"m", "n"});
    it.each(i, [&] {
        const Id a = it.load(it.at(x, {i, j})), most = it.max(a, {j});
        it.store(it.at(y, {i}), most);
        it.store(it.at(below, {i, j}), it.sub(a, most));
    });
    return it.finish();
}

Kernel softmax() {
    Builder it("softmax");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", "n");
    const int x = it.input("x", {"m", "n"}), y = it.output("y", {"m", "n"});
    it.each(i, [&] {
        const Id a = it.load(it.at(x, {i, j}));
        const Id e = it.map(Elementwise::exp, {it.sub(a, it.max(a, {j}))});
        it.store(it.at(y, {i, j}), it.div(e, it.sum(e, {j})));
    });
    return it.finish();
}

/// Of the first 20 positions; the others have weight 0.
Kernel masked_softmax_rows() {
    Builder it("masked_softmax");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", "n");
    const int x = it.input("x", {"m", "n"}), y = it.output("y", {"m", "n"});
    it.each(i, [&] {
        const Id at = it.index(j), count = it.constant(20, DType::i32);
        const Id seen = it.lt(at, count), a = it.load(it.at(x, {i, j}));
        const Id chosen = it.where(seen, a, it.constant(-3e38));
        const Id e = it.map(Elementwise::exp, {it.sub(chosen, it.max(chosen, {j}))});
        it.store(it.at(y, {i, j}), it.div(e, it.sum(e, {j})));
    });
    return it.finish();
}

/// The loss of label 2, and how many elements are the largest of their row.
Kernel cross_entropy(bool counts) {
    Builder it(counts ? "counted_cross_entropy" : "cross_entropy");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", "n");
    const int x = it.input("x", {"m", "n"}), y = it.output("y", {"m"});
    const int ties = counts ? it.output("ties", {"m"}) : -1;
    it.each(i, [&] {
        const Id a = it.load(it.at(x, {i, j})), below = it.sub(a, it.max(a, {j}));
        const Id total = it.map(Elementwise::log, {it.sum(it.map(Elementwise::exp, {below}), {j})});
        const Id at = it.index(j), label = it.constant(2, DType::i32);
        const Id is_label = it.map(Elementwise::eq, {at, label}), zero = it.constant(0);
        it.store(it.at(y, {i}), it.sub(total, it.sum(it.where(is_label, below, zero), {j})));
        if (counts) it.store(it.at(ties, {i}), it.sum(it.lt(below, zero), {j}));
    });
    return it.finish();
}

void set(Arrays& arrays, std::size_t buffer, std::size_t at) {
    arrays.floats[buffer][at] = kNan;
    arrays.exact[buffer][at] = kNan;
}

/// Of what a kernel wrote, the same elements are NaN as the evaluator gives.
void check_same_nans(const runtime::Model& model, int number, const Kernel& kernel,
                     const DimValues& dims, Arrays& arrays) {
    CAPTURE(kernel.name);
    run_program(model, number, dims, arrays, 1);
    evaluate(kernel, dims, arrays.exact);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
        for (std::size_t at = 0; at < arrays.exact[i].size(); ++at) {
            CAPTURE(kernel.buffers[i].name);
            CAPTURE(at);
            CHECK(std::isnan(arrays.floats[i][at]) == std::isnan(arrays.exact[i][at]));
        }
}

int maximum_in(const Kernel& kernel) {
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
        if (auto reduce = as<Reduce>(kernel, id);
            reduce && reduce->reduction == kernel::Reduction::max)
            return id;
    return -1;
}

}  // namespace

TEST_CASE("NaN stays NaN in relu, maximum, minimum and reductions") {
    const std::vector<Kernel> kernels{pairs(), largest(), softmax(), masked_softmax_rows(),
                                      cross_entropy(false)};
    for (const std::string& isa : isas_by_turns()) {
        CAPTURE(isa);
        const runtime::Model& model =
            compile_and_load(model_of_kernels("not_a_number", kernels), isa, "-O2");
        for (std::int64_t n : {1, 16, 37, 64})
            for (std::int64_t at : {std::int64_t(0), n / 2, n - 1}) {
                CAPTURE(n);
                CAPTURE(at);
                const DimValues dims{{"m", 6}, {"n", n}, {"k", 1}, {"b", 1}};
                for (std::size_t i = 0; i < kernels.size(); ++i) {
                    Arrays arrays(kernels[i], dims, 7, 3);
                    set(arrays, 0, std::size_t(n + at));      // row 1 of the first operand
                    if (i == 0) set(arrays, 1, std::size_t(3 * n + at));  // row 3 of the other
                    check_same_nans(model, int(i), kernels[i], dims, arrays);
                }
            }
    }
}

TEST_CASE("a maximum leaves NaN out only where a sum of exponentials shows it") {
    const Kernel plain = largest(), shifted = softmax();
    CHECK(!is_maximum_of_softmax(plain, maximum_in(plain)));
    CHECK(is_maximum_of_softmax(shifted, maximum_in(shifted)));
    const Kernel masked = masked_softmax_rows(), loss = cross_entropy(false);
    CHECK(is_maximum_of_softmax(masked, maximum_in(masked)));
    CHECK(is_maximum_of_softmax(loss, maximum_in(loss)));
    const Kernel counted = cross_entropy(true);
    CHECK(!is_maximum_of_softmax(counted, maximum_in(counted)));
}
