// Attention as tile programs, in float64: against plain loops, and the gradient against finite
// differences. No result may depend on the length of the tiles.
#include "tests/kernel/attention_programs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "codegen/kernel/print.h"
#include "codegen/kernel/rewrites/one_tile.h"
#include "codegen/kernel/rewrites/tile_rewrites.h"
#include "codegen/kernel/tile_schedule.h"
#include "codegen/kernel/verify_kernel.h"
#include "tests/golden.h"

using namespace fovea;
using namespace fovea::test;
using kernel::Buffer;
using kernel::DimValues;
using kernel::Kernel;

namespace {

using Array = std::vector<double>;
using Arrays = std::map<std::string, Array>;

constexpr int kBatch = 2, kHeads = 2, kQueries = 7, kKeys = 9;
const DimValues kSizes{{"b", kBatch}, {"m", kQueries}, {"n", kKeys}};

double dropout(int, double probability, std::int64_t row, std::int64_t column) {
    return (row * 31 + column * 17) % 5 == 0 ? 0 : 1 / (1 - probability);
}

/// Runs the kernel on arrays by name, filling in those that it writes.
void run(const Kernel& kernel, Arrays& arrays, std::int64_t tile) {
    std::vector<Array> buffers;
    for (const Buffer& buffer : kernel.buffers) {
        std::int64_t size = 1;
        for (const Dim& dim : buffer.shape) size *= kernel::value_of(dim, kSizes);
        Array& array = arrays[buffer.name];
        if (buffer.written) array.assign(std::size_t(size), -99);
        buffers.push_back(array);
    }
    kernel::evaluate(kernel, kSizes, buffers, dropout, tile);
    for (std::size_t i = 0; i < buffers.size(); ++i) arrays[kernel.buffers[i].name] = buffers[i];
}

Arrays random_inputs(const Kernel& kernel) {
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> values(-1, 1);
    Arrays arrays;
    for (const Buffer& buffer : kernel.buffers) {
        std::int64_t size = 1;
        for (const Dim& dim : buffer.shape) size *= kernel::value_of(dim, kSizes);
        for (std::int64_t i = 0; i < size && !buffer.written; ++i)
            arrays[buffer.name].push_back(buffer.dtype == DType::f32 ? values(generator)
                                          : buffer.dtype == DType::i32
                                              ? double(generator() % (kKeys + 1))
                                              : double(generator() % 2));
    }
    return arrays;
}

/// One head of one sequence by plain loops.
class PlainAttention {
  public:
    PlainAttention(const AttentionVariant& variant, const Arrays& arrays, int batch, int head)
        : it_(variant), arrays_(arrays), b_(batch), h_(head) {}

    Array output(int q) const {
        Array weights;
        double total = 0;
        bool any = false;
        for (int k = 0; k < kKeys; ++k) any |= sees(q, k);
        for (int k = 0; k < kKeys; ++k) {
            const bool alike = it_.uniform && !any;
            weights.push_back(alike ? 1 : sees(q, k) ? std::exp(score(q, k)) : 0);
            total += weights.back();
        }
        const auto width = std::size_t(it_.value_width.value());
        Array result(width);
        for (int k = 0; k < kKeys; ++k) {
            const double kept =
                it_.dropout ? dropout(3, it_.dropout, (b_ * kHeads + h_) * kQueries + q, k) : 1;
            for (std::size_t e = 0; e < width && total > 0; ++e)
                result[e] += weights[std::size_t(k)] / total * kept *
                             at("V", kKeys, k, int(e), it_.value_width);
        }
        return result;
    }

    double at(const char* name, int length, int row, int column, const Dim& width) const {
        const int w = int(width.value());
        const int index = it_.heads_inside ? ((b_ * length + row) * kHeads + h_) * w + column
                                           : ((b_ * kHeads + h_) * length + row) * w + column;
        return arrays_.at(name)[std::size_t(index)];
    }

  private:
    bool sees(int q, int k) const {
        if (it_.causal && k > q) return false;
        if (it_.window && k <= q - it_.window) return false;
        if (it_.lengths == AttentionVariant::Lengths::sequences && k >= lens(b_)) return false;
        if (it_.lengths == AttentionVariant::Lengths::queries && k >= lens(b_ * kQueries + q))
            return false;
        return !it_.allowed ||
               arrays_.at("allowed")[std::size_t((b_ * kQueries + q) * kKeys + k)] != 0;
    }
    double lens(int i) const { return arrays_.at("lens")[std::size_t(i)]; }

    double score(int q, int k) const {
        double s = 0;
        const int width = int(it_.width.value());
        for (int d = 0; d < width; ++d) {
            const double x = at("Q", kQueries, q, d, it_.width),
                         y = at("K", kKeys, k, d, it_.width);
            s += it_.additive ? arrays_.at("w")[std::size_t(d)] * std::tanh(x + y) : x * y;
        }
        if (!it_.additive) s /= std::sqrt(double(width));
        if (it_.soft_cap) s = it_.soft_cap * std::tanh(s / it_.soft_cap);
        if (it_.bias)
            s += arrays_.at("bias")[std::size_t(((b_ * kHeads + h_) * kQueries + q) * kKeys + k)];
        if (it_.alibi) s += arrays_.at("slopes")[std::size_t(h_)] * (k - q) / 16.0;
        return s;
    }

    const AttentionVariant& it_;
    const Arrays& arrays_;
    int b_, h_;
};

double largest_difference(const Array& a, const Array& b) {
    double worst = a.size() == b.size() ? 0 : 1e9;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (a[i] != b[i]) worst = std::max(worst, std::fabs(a[i] - b[i]));
    return worst;
}

}  // namespace

TEST_CASE("attention agrees with plain loops, however long its tiles are") {
    for (const AttentionVariant& variant : attention_variants()) {
        CAPTURE(variant.name);
        const Kernel kernel = attention_forward(variant);
        Arrays arrays = random_inputs(kernel);
        for (std::int64_t tile : {1, 3, 16}) {
            CAPTURE(tile);
            run(kernel, arrays, tile);
            double worst = 0;
            for (int b = 0; b < kBatch; ++b)
                for (int h = 0; h < kHeads; ++h)
                    for (int q = 0; q < kQueries; ++q) {
                        const Array expected = PlainAttention(variant, arrays, b, h).output(q);
                        for (std::size_t e = 0; e < expected.size(); ++e) {
                            const double own =
                                PlainAttention(variant, arrays, b, h)
                                    .at("O", kQueries, q, int(e), variant.value_width);
                            worst = std::max(worst, std::fabs(own - expected[e]));
                        }
                    }
            CHECK(worst < 1e-12);
        }
    }
}

TEST_CASE("the gradient of attention agrees with finite differences") {
    for (const AttentionVariant& variant : attention_variants()) {
        CAPTURE(variant.name);
        const Kernel forward = attention_forward(variant), backward = attention_backward(variant);
        Arrays arrays = random_inputs(backward);
        run(forward, arrays, 4);
        const Array weights = arrays.at("dO");
        run(backward, arrays, 1);
        Arrays whole = arrays;
        run(backward, whole, 16);
        const auto loss = [&](Arrays inputs) {
            run(forward, inputs, 5);
            double total = 0;
            for (std::size_t i = 0; i < weights.size(); ++i) total += weights[i] * inputs["O"][i];
            return total;
        };
        for (const char* name : {"Q", "K", "V", "slopes", "w", "bias"}) {
            const auto sums = arrays.find(name[0] == 's' ? "dslope" : std::string("d") + name);
            if (!arrays.contains(name) || sums == arrays.end()) continue;
            CAPTURE(std::string(name));
            CHECK(largest_difference(sums->second, whole.at(sums->first)) < 1e-12);
            const std::size_t size = arrays.at(name).size(), sequences = sums->second.size() / size;
            for (std::size_t i = 0; i < size; i += size / 5 + 1) {
                double own = 0;  // one sum per sequence, for what all sequences share
                for (std::size_t part = 0; part < sequences; ++part)
                    own += sums->second[part * size + i];
                Arrays up = arrays, down = arrays;
                up[name][i] += 1e-5, down[name][i] -= 1e-5;
                CHECK(own == doctest::Approx((loss(up) - loss(down)) / 2e-5).epsilon(1e-6));
            }
        }
    }
}

TEST_CASE("rewrites for tiles leave the results alone") {
    for (const AttentionVariant& variant : attention_variants())
        for (auto build : {attention_forward, attention_backward}) {
            const Kernel kernel = build(variant);
            CAPTURE(kernel.name);
            const Kernel rewritten = kernel::rewrite_for_tiles(kernel);
            CHECK_NOTHROW(kernel::verify_kernel(rewritten));
            Arrays own = random_inputs(kernel), other = own;
            // A mask may go where tiles end at the bound, which those of the evaluator do at 1.
            run(kernel, own, 1);
            run(rewritten, other, 1);
            for (const Buffer& buffer : kernel.buffers)
                CHECK(largest_difference(own.at(buffer.name), other.at(buffer.name)) < 1e-11);
        }
}

TEST_CASE("attention without its loops over tiles has the same results") {
    for (const AttentionVariant& variant : attention_variants())
        for (auto build : {attention_forward, attention_backward}) {
            const Kernel kernel = build(variant);
            CAPTURE(kernel.name);
            Kernel one_tile = kernel;
            REQUIRE(kernel::take_one_tile(one_tile));
            for (const kernel::Node& node : one_tile.nodes)
                if (auto loop = std::get_if<kernel::Loop>(&node.operation))
                    CHECK((loop->kind != kernel::LoopKind::tiles || loop->body.empty()));
            Arrays own = random_inputs(kernel), other = own;
            run(kernel, own, 5);
            run(one_tile, other, 16);
            for (const Buffer& buffer : kernel.buffers)
                CHECK(largest_difference(own.at(buffer.name), other.at(buffer.name)) < 1e-11);
        }
}

TEST_CASE("the printed form of attention") {
    const AttentionVariant variant = readable_attention();
    check_golden("kernels/attention_forward.txt", kernel::print(attention_forward(variant)));
    check_golden("kernels/attention_backward.txt", kernel::print(attention_backward(variant)));
    Kernel rewritten = attention_forward(variant);
    kernel::hoist_factors(rewritten);
    check_golden("kernels/attention_forward_scaled.txt", kernel::print(rewritten));
}

TEST_CASE("the schedule of tiles is data") {
    const Kernel kernel = attention_forward(attention_variants()[0]);
    CHECK(kernel::print(kernel, kernel::tile_schedule(kernel, {})) == "tile q 64, tile k 64");
    const Kernel gradient = attention_backward(attention_variants()[0]);
    CHECK(kernel::print(gradient, kernel::tile_schedule(gradient, {})) == "tile q 64, tile k 64");
    AttentionVariant narrow;
    narrow.width = 8, narrow.value_width = 16;
    const Kernel small = attention_forward(narrow);
    CHECK(kernel::print(small, kernel::tile_schedule(small, {})) ==
          "tile q 64, tile k 64, or small ones of 16");
    narrow.queries = 100;
    CHECK(kernel::tile_schedule(attention_forward(narrow), {}).small_tile == 0);
}
