#include "tests/emit/padded_attention.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/lower/attention_kernels.h"

namespace fovea::test {

namespace {

constexpr std::int64_t kWidth = 64, kHeads = 2, kLongest = 200;
constexpr int kValidKeys = 21;

/// The first `rows` rows of each head of a tensor [1, heads, length, 64].
template <class T>
std::vector<T> first_rows(const std::vector<T>& tensor, std::int64_t length, std::int64_t rows) {
    std::vector<T> result;
    for (std::int64_t head = 0; head < kHeads; ++head) {
        const auto first = tensor.begin() + head * length * kWidth;
        result.insert(result.end(), first, first + rows * kWidth);
    }
    return result;
}

}  // namespace

void check_padding(const kernel::Kernel& kernel,
                   const std::function<void(const kernel::DimValues&, Arrays&)>& run) {
    const auto output = [&](std::int64_t queries, std::int64_t keys) {
        const kernel::DimValues dims = attention_sizes(1, queries, keys);
        const Arrays all(kernel, attention_sizes(1, kLongest, kLongest), 7, 5);
        Arrays some(kernel, dims, 7, 5);
        for (const char* operand : {"query", "key", "value"}) {
            const std::size_t i = loaded_buffer(kernel, operand);
            const std::int64_t length = operand == std::string_view("query") ? queries : keys;
            const std::vector<float> rows = first_rows(all.floats[i], kLongest, length);
            std::copy(rows.begin(), rows.end(), some.floats[i].begin());
            const std::vector<std::uint16_t> halves = first_rows(all.halves[i], kLongest, length);
            std::copy(halves.begin(), halves.end(), some.halves[i].begin());
        }
        some.integers[loaded_buffer(kernel, "length")][0] = kValidKeys;
        run(dims, some);
        const std::size_t written = written_buffer(kernel);
        return std::pair(first_rows(some.floats[written], queries, 10),
                         first_rows(some.halves[written], queries, 10));
    };
    const auto shortest = output(10, kValidKeys);
    CHECK(output(70, kValidKeys) == shortest);
    CHECK(output(10, 150) == shortest);
    CHECK(output(130, kLongest) == shortest);
}

}  // namespace fovea::test
