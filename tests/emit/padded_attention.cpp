#include "tests/emit/padded_attention.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/lower/attention_kernels.h"

namespace fovea::test {

namespace {

constexpr std::int64_t kWidth = 64, kHeads = 2, kLongest = 200;
constexpr int kValidKeys = 21;

/// The first `rows` rows of each head of a tensor [1, heads, length, 64].
std::vector<float> first_rows(const std::vector<float>& tensor, std::int64_t length,
                              std::int64_t rows) {
    std::vector<float> result;
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
        }
        some.integers[loaded_buffer(kernel, "length")][0] = kValidKeys;
        run(dims, some);
        return first_rows(some.floats[written_buffer(kernel)], queries, 10);
    };
    const std::vector<float> shortest = output(10, kValidKeys);
    CHECK(output(70, kValidKeys) == shortest);
    CHECK(output(10, 150) == shortest);
    CHECK(output(130, kLongest) == shortest);
}

}  // namespace fovea::test
