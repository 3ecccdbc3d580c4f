// Pairs as numbers: d2l's first example, cutting, padding, and the order of an epoch.
#include "../../../runtime/text/batches.h"
#include "../../../runtime/error.h"
#include "../../../runtime/trainer/epoch_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

using namespace fovea::runtime;

namespace {

using Ids = std::vector<std::int32_t>;

struct BatchesFixture {
    Corpus corpus = tokenize({{"Go.", "Va !"}, {"One two three.", "Un deux trois !"}, {" ", "x"}});
    Vocabulary source = Vocabulary::count(corpus.sources, 1);
    Vocabulary target = Vocabulary::count(corpus.targets, 1);
};

}  // namespace

TEST_CASE("pairs with an empty side are left out") {
    CHECK(BatchesFixture().corpus.size() == 2);
    CHECK(tokenize({{"", "a"}, {"a", "\u00a0"}}).size() == 0);
}

TEST_CASE("sentences end with <eos> and are padded") {
    const BatchesFixture f;
    const Examples e = number_examples(f.corpus, f.source, f.target, 5);
    CHECK(e.count == 2);
    // Sources: ". go one three two" from 4; targets: "! deux trois un va" from 4.
    CHECK(e.sources == Ids{5, 4, 3, 1, 1, 6, 8, 7, 4, 3});
    CHECK(e.source_lengths == Ids{3, 5});
    CHECK(e.targets == Ids{8, 4, 3, 1, 1, 7, 5, 6, 4, 3});
    CHECK(e.target_lengths == Ids{3, 5});
    CHECK(e.target_tokens() == 8);
}

TEST_CASE("long sentences are cut, and lose their <eos>") {
    const BatchesFixture f;
    const Examples e = number_examples(f.corpus, f.source, f.target, 3);
    CHECK(e.sources == Ids{5, 4, 3, 6, 8, 7});
    CHECK(e.source_lengths == Ids{3, 3});
    const Examples one = number_examples(f.corpus, f.source, f.target, 1);
    CHECK(one.targets == Ids{8, 7});
}

TEST_CASE("the decoder reads <bos> and the labels without the last") {
    const BatchesFixture f;
    const Examples e = number_examples(f.corpus, f.source, f.target, 5);
    Ids src(10), src_lens(2), tgt(10), labels(10), tgt_lens(2);
    const std::vector<std::uint32_t> chosen = {1, 0};
    CHECK(fill_batch(
              e, chosen,
              {{5, 5}, src.data(), src_lens.data(), tgt.data(), labels.data(), tgt_lens.data()}) ==
          8);
    CHECK(src == Ids{6, 8, 7, 4, 3, 5, 4, 3, 1, 1});
    CHECK(src_lens == Ids{5, 3});
    CHECK(tgt == Ids{2, 7, 5, 6, 4, 2, 8, 4, 3, 1});
    CHECK(labels == Ids{7, 5, 6, 4, 3, 8, 4, 3, 1, 1});
    CHECK(tgt_lens == Ids{5, 3});
}

TEST_CASE("steps that are padding in the whole batch are left out") {
    const BatchesFixture f;
    const Examples e = number_examples(f.corpus, f.source, f.target, 5);
    const std::vector<std::uint32_t> shorter = {0};
    CHECK(needed_steps(e, shorter).source == 3);
    CHECK(needed_steps(e, shorter).target == 3);
    Ids src(3), src_lens(1), tgt(3), labels(3), tgt_lens(1);
    CHECK(fill_batch(
              e, shorter,
              {{3, 3}, src.data(), src_lens.data(), tgt.data(), labels.data(), tgt_lens.data()}) ==
          3);
    CHECK(src == Ids{5, 4, 3});
    CHECK(tgt == Ids{2, 8, 4});
    CHECK(labels == Ids{8, 4, 3});
}

TEST_CASE("sources keep their padding where it is read") {
    const BatchesFixture f;
    Examples e = number_examples(f.corpus, f.source, f.target, 5);
    e.whole_sources = true;
    const std::vector<std::uint32_t> shorter = {0};
    CHECK(needed_steps(e, shorter).source == 5);
    CHECK(needed_steps(e, shorter).target == 3);
}

TEST_CASE("grouping by length fills batches with equals, and loses none") {
    Examples examples;
    for (std::int32_t i = 0; i < 103; ++i) {
        examples.target_lengths.push_back(1 + i * 7 % 9);
        examples.source_lengths.push_back(1 + i * 5 % 4);
    }
    const std::size_t batch = 10, window = 40;
    const auto before = epoch_order(103, 1, 0);
    auto order = before;
    group_by_length(order, examples, batch, window, 1, 0);
    auto again = before;
    group_by_length(again, examples, batch, window, 1, 0);
    CHECK(again == order);
    const auto padding = [&](const std::vector<std::uint32_t>& some) {
        std::int64_t sum = 0;
        for (std::size_t first = 0; first < some.size(); first += batch) {
            std::int32_t longest = 0;
            const std::size_t end = std::min(first + batch, some.size());
            for (std::size_t i = first; i < end; ++i)
                longest = std::max(longest, examples.target_lengths[some[i]]);
            for (std::size_t i = first; i < end; ++i)
                sum += longest - examples.target_lengths[some[i]];
        }
        return sum;
    };
    CHECK(padding(order) < padding(before) / 2);
    for (std::size_t first = 0; first < order.size(); first += window) {
        const std::size_t end = std::min(first + window, order.size());
        std::vector<std::uint32_t> a(before.begin() + long(first), before.begin() + long(end));
        std::vector<std::uint32_t> b(order.begin() + long(first), order.begin() + long(end));
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        CHECK(a == b);
    }
}

TEST_CASE("every order of three is about as frequent as the others") {
    std::vector<int> counts(27);
    for (std::uint64_t epoch = 0; epoch < 6000; ++epoch) {
        const auto order = epoch_order(3, 7, epoch);
        ++counts[order[0] * 9 + order[1] * 3 + order[2]];
    }
    for (const int count : counts) CHECK((count == 0 || std::abs(count - 1000) < 150));
}

TEST_CASE("the fingerprint tells data apart") {
    const BatchesFixture f;
    const auto of = [&](std::size_t steps) {
        return number_examples(f.corpus, f.source, f.target, steps).fingerprint();
    };
    CHECK(of(5) == of(5));
    CHECK(of(5) != of(6));
}
