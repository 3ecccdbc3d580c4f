// Masks of packed sequences, against the boolean tensor that they stand for.
#include "codegen/ops/attention/segments.h"

#include "codegen/ops/attention/attention.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr std::int64_t kSequences = 2, kPositions = 6;

const Array kPacked{{kSequences, kPositions}, {3, 3, 3, 5, 5, 9, 0, 1, 0, 1, 1, 0}};
const Array kDocuments{{kSequences, kPositions}, {1, 1, 2, 2, 2, 2, 7, 7, 7, 7, 4, 4}};

/// Whether positions are of one segment of all of these: [sequences, positions, positions].
Array is_same(const std::vector<Array>& segments) {
    Array same{{kSequences, kPositions, kPositions}, {}};
    for (std::int64_t row = 0; row < kSequences * kPositions; ++row)
        for (std::int64_t key = 0; key < kPositions; ++key) {
            const std::int64_t other = row / kPositions * kPositions + key;
            bool all = true;
            for (const Array& one : segments)
                all = all && one.values[std::size_t(row)] == one.values[std::size_t(other)];
            same.values.push_back(all);
        }
    return same;
}

template <class MaskOf>
void check_same(const std::vector<Array>& segments, MaskOf&& mask_of, const Mask& besides) {
    Arrays arrays{{"q", random_array({kSequences, kPositions, 3}, 1)}};
    const auto attended = [&](bool spelled) {
        Graph graph;
        Tensor q = input(graph, "q", {kSequences, kPositions, 3});
        std::vector<Tensor> inputs;
        for (const char* name : {"segments", "documents"})
            inputs.push_back(input(graph, name, {kSequences, kPositions}, i32));
        const Mask seen =
            allowed(input(graph, "same", {kSequences, kPositions, kPositions}, DType::boolean));
        output("y", attention(q, q, q, dot_product, (spelled ? seen : mask_of(inputs)) & besides));
        return graph;
    };
    arrays["segments"] = kPacked;
    arrays["documents"] = kDocuments;
    arrays["same"] = is_same(segments);
    const Graph graph = attended(false);
    check_close(run(graph, arrays), run(attended(true), arrays));
    check_gradients(graph, arrays);
}

}  // namespace

TEST_CASE("a query sees the keys of its own segment") {
    for (const Mask& besides : {no_mask, causal, window(1, 1), no_mask.with(MaskedRows::zero)}) {
        check_same({kPacked}, [](auto& x) { return same(x[0]); }, besides);
        check_same({kPacked, kDocuments}, [](auto& x) { return same(x[0]) & same(x[1]); }, besides);
    }
}

TEST_CASE("where segments begin and end") {
    Graph graph;
    const SegmentBounds bounds = bounds_of_segments(input(graph, "x", kPacked.shape, i32));
    output("first", bounds.first);
    output("end", bounds.end);
    check_close(run(graph, {{"x", kPacked}}, "first"),
                {kPacked.shape, {0, 0, 0, 3, 3, 5, 0, 1, 0, 1, 1, 0}});
    check_close(run(graph, {{"x", kPacked}}, "end"),
                {kPacked.shape, {3, 3, 3, 5, 5, 6, 6, 5, 6, 5, 5, 6}});
}
