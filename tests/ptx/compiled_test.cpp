// PTX as LLVM emits it: compiled.ptx is the function below, built by clang 19 for sm_80 with t and
// lane taken from %ctaid, %ntid and %tid, `row` in shared memory and a bar.sync after its store.
#include <bit>
#include <cmath>
#include <numeric>

#include "tests/ptx/kernel_text.h"

namespace fovea::ptx::test {
namespace {

constexpr int kThreads = 64, kBlocks = 3, kCount = kThreads * kBlocks;

struct Data {
    std::vector<float> a = std::vector<float>(kCount, NAN), b;
    std::vector<std::uint8_t> kind;
    std::vector<std::int16_t> s;
    std::vector<double> d;
    std::vector<std::int64_t> l;

    Data() {
        for (int t = 0; t < kCount; ++t) {
            b.push_back(float(std::sin(t * 0.7)) / 2);
            kind.push_back(std::uint8_t(t * 7 % 11));
            s.push_back(std::int16_t(t * 991));
            d.push_back(std::cos(t) + 2);
            l.push_back(std::int64_t(t) * 0x123456789abcd - 77777777777);
        }
    }
};

float series(float x, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum = std::fma(sum, x, std::sqrt(float(i)));
    return sum;
}

void mixed(Data& data, int t, int n) {
    const float* row = &data.b[std::size_t(t / kThreads * kThreads)];
    const auto at = std::size_t(t);
    float& a = data.a[at];
    const float b = data.b[at];
    switch (data.kind[at]) {
        case 0: a = series(b, n); break;
        case 1: a = row[n & 63] + 1; break;
        case 2: a = float(n / (t + 1)); break;
        case 3: a = float(unsigned(n) % (unsigned(t) + 3u)); break;
        case 4: a = float(std::popcount(unsigned(t * 77))); break;
        case 5: a = float(std::countl_zero(unsigned(t + 1))); break;
        case 6: a = b / 3; break;
        case 7:
            for (int i = 0; i < 64; i += t + 1) {
                if (row[i] > b) break;
                a = float(i);
            }
            break;
        default: a = -1;
    }
    data.s[at] = std::int16_t(data.s[at] * 3 + data.kind[at]);
    data.d[at] = std::fma(data.d[at], 2, 1. / data.d[at]);
    int local[16];
    std::fill_n(local, 16, t);
    for (int i = 0; i < 16; ++i) local[(i * n) & 15] = i;
    std::int64_t x = std::int64_t(std::uint64_t(data.l[at]) * std::uint64_t(n)) >> 3;
    x += local[t & 15];
    const std::uint64_t rotated = std::rotl(unsigned(n), t & 31);
    x ^= std::int64_t(__builtin_bswap64(std::uint64_t(x)) + (std::uint64_t(x) << (n & 63)) +
                      rotated);
    data.l[at] = x;
}

}  // namespace

TEST_CASE("what LLVM emits computes what its source says") {
    const Module module = parse(file_text("compiled.ptx"));
    for (int n : {0, 1, 13, 20}) {
        CAPTURE(n);
        Data expected;
        for (int t = 0; t < kCount; ++t) mixed(expected, t, n);
        for (const Schedule& schedule : schedules()) {
            Data data;
            const std::vector<float> b = data.b;
            Memory memory;
            const Launch launch{
                .grid = {kBlocks, 1, 1},
                .block = {kThreads, 1, 1},
                .arguments = {argument(memory.add(std::span(data.a))),
                              argument(memory.add(std::span(b))),
                              argument(memory.add(std::span<const std::uint8_t>(data.kind))),
                              argument(memory.add(std::span(data.s))),
                              argument(memory.add(std::span(data.d))),
                              argument(memory.add(std::span(data.l))), argument(n)}};
            interpret(module, "mixed", launch, memory, schedule);
            for (std::size_t t = 0; t < kCount; ++t) {
                CAPTURE(t);
                const bool same = data.a[t] == expected.a[t] ||
                                  (std::isnan(data.a[t]) && std::isnan(expected.a[t]));
                CHECK(same);
                CHECK(data.s[t] == expected.s[t]);
                CHECK(data.d[t] == expected.d[t]);
                CHECK(data.l[t] == expected.l[t]);
            }
        }
    }
}

}  // namespace fovea::ptx::test
