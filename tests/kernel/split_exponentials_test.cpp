// tanh and sigmoid of sums over different axes: which are taken apart, and that their values stay.
#include "codegen/kernel/rewrites/split_exponentials.h"

#include <doctest/doctest.h>

#include <cmath>

#include "codegen/kernel/builder.h"
#include "codegen/kernel/evaluate.h"
#include "codegen/kernel/print.h"
#include "codegen/kernel/verify_kernel.h"

using namespace fovea;
using namespace fovea::kernel;
using E = Elementwise;

namespace {

constexpr int kSplitQueries = 3, kSplitKeys = 4, kWidth = 5;
const DimValues kScoreSizes{{"m", kSplitQueries}, {"n", kSplitKeys}};

/// y[q, k] = sum over d of f(value(q[q, d], k[k, d], b[d])).
template <class Value>
Kernel sums_of(E function, const Value& value) {
    Builder it("sums");
    const Dim m("m"), n("n"), width = kWidth;
    const AxisId q = it.axis("q", m), k = it.axis("k", n), d = it.axis("d", width);
    const int query = it.input("query", {m, width}), key = it.input("key", {n, width});
    const int bias = it.input("bias", {width}), y = it.output("y", {m, n});
    const Id b = it.load(it.at(bias, {d}));
    it.par(q, [&] {
        const Id of_query = it.named(it.load(it.at(query, {q, d})), "query");
        it.tiles(k, {}, {}, [&](const std::vector<Id>&) {
            const Id of_key = it.named(it.load(it.at(key, {k, d})), "key");
            const Id x = value(it, of_query, of_key, b);
            it.store(it.at(y, {q, k}), it.sum(it.map(function, {x}), {d}));
            return std::vector<Id>{};
        });
    });
    return it.finish();
}

Kernel split(const Kernel& kernel) {
    Kernel result = kernel;
    split_exponentials(result);
    CHECK_NOTHROW(verify_kernel(result));
    return result;
}

bool has(const Kernel& kernel, const std::string& text) {
    return print(kernel).find(text) != std::string::npos;
}

std::vector<double> run_split(const Kernel& kernel, double scale) {
    std::vector<std::vector<double>> buffers{
        {}, {}, {}, std::vector<double>(kSplitQueries * kSplitKeys)};
    for (int i = 0; i < kSplitQueries * kWidth; ++i) buffers[0].push_back(scale * std::sin(i + 1));
    for (int i = 0; i < kSplitKeys * kWidth; ++i)  // about the opposite
        buffers[1].push_back(std::cos(3 * i) - scale * std::sin(i % (kSplitQueries * kWidth) + 1));
    for (int i = 0; i < kWidth; ++i) buffers[2].push_back(0.1 * i);
    evaluate(kernel, kScoreSizes, buffers, {}, 2);
    return buffers[3];
}

void check_same(const Kernel& kernel, const Kernel& other) {
    for (const double scale : {0.0, 1.0, 300.0}) {
        const std::vector<double> own = run_split(kernel, scale), others = run_split(other, scale);
        for (std::size_t i = 0; i < own.size(); ++i) CHECK(std::abs(own[i] - others[i]) <= 1e-11);
    }
}

}  // namespace

TEST_CASE("tanh and sigmoid of a sum over different axes are taken apart") {
    for (const E function : {E::tanh, E::sigmoid}) {
        const Kernel kernel =
            sums_of(function, [](Builder& it, Id query, Id key, Id) { return it.add(query, key); });
        const Kernel apart = split(kernel);
        const bool is_tanh = function == E::tanh;
        CHECK(has(apart, is_tanh ? "tanh_of_exp" : "sigmoid_of_exp"));
        CHECK(has(apart, "query_significand"));
        CHECK(has(apart, "key_exponent"));
        check_same(kernel, apart);
    }
}

TEST_CASE("terms may be subtracted, scaled and more than two") {
    const auto value = [](Builder& it, Id query, Id key, Id bias) {
        const Id scaled = it.mul(it.sub(query, key), it.constant(0.3));
        return it.map(E::neg, {it.add(it.div(scaled, it.constant(0.7)), bias)});
    };
    for (const E function : {E::tanh, E::sigmoid}) {
        const Kernel kernel = sums_of(function, value), apart = split(kernel);
        CHECK(has(apart, "_of_exp"));
        check_same(kernel, apart);
    }
}

TEST_CASE("what is no sum of parts is left alone") {
    const auto product = [](Builder& it, Id query, Id key, Id) { return it.mul(query, key); };
    const auto other = [](Builder& it, Id query, Id key, Id) {
        return it.add(it.mul(query, key), key);
    };
    const auto of_three = [](Builder& it, Id query, Id key, Id) {
        return it.map(E::exp, {it.add(query, key)});
    };
    CHECK_FALSE(has(split(sums_of(E::tanh, product)), "_of_exp"));
    CHECK_FALSE(has(split(sums_of(E::tanh, other)), "_of_exp"));
    CHECK_FALSE(has(split(sums_of(E::tanh, of_three)), "_of_exp"));
    CHECK_FALSE(has(split(sums_of(E::exp, of_three)), "_of_exp"));
}
