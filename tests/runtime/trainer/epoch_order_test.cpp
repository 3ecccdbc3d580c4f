// Orders of epochs, and examples that are held out.
#include "../../../runtime/trainer/epoch_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "../../../runtime/error.h"

using namespace fovea::runtime;

TEST_CASE("the order of an epoch is a permutation that seed and epoch alone decide") {
    const auto order = epoch_order(600, 1, 0);
    CHECK(order == epoch_order(600, 1, 0));
    CHECK(order != epoch_order(600, 1, 1));
    CHECK(order != epoch_order(600, 2, 0));
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint32_t> all(600);
    std::iota(all.begin(), all.end(), 0u);
    CHECK(sorted == all);
    CHECK(epoch_order(1, 1, 0) == std::vector<std::uint32_t>{0});
    CHECK(epoch_order(0, 1, 0).empty());
}

TEST_CASE("a split holds out a share that the seed draws, and keeps the order of the data") {
    const Split split = split_examples(600, 0.1, 3);
    CHECK(split.validation.size() == 60);
    CHECK(split.training.size() == 540);
    CHECK(std::is_sorted(split.training.begin(), split.training.end()));
    std::vector<std::uint32_t> both = split.training;
    both.insert(both.end(), split.validation.begin(), split.validation.end());
    std::sort(both.begin(), both.end());
    std::vector<std::uint32_t> all(600);
    std::iota(all.begin(), all.end(), 0u);
    CHECK(both == all);
    CHECK(split_examples(600, 0.1, 3).validation == split.validation);
    CHECK(split_examples(600, 0.1, 4).validation != split.validation);
    CHECK(split_examples(7, 0.01, 1).validation.size() == 1);
    CHECK(split_examples(7, 0, 1).validation.empty());
    CHECK_THROWS_AS(split_examples(2, 0.9, 1), fovea::runtime::UserError);
}
