// rearrange, broadcast and slice.
#include "codegen/ops/movement.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("rearrange splits, permutes and merges") {
    check_counting({2, 4}, {{2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7}},
                   [](Tensor x) { return rearrange(x, "a (b c) -> b a c", {"b", 2}); });
    check_counting({2, 3}, {{6}, {0, 3, 1, 4, 2, 5}},
                   [](Tensor x) { return rearrange(x, "a b -> (b a)"); });
    check_counting({2, 1, 3}, {{1, 3, 2, 1}, {0, 3, 1, 4, 2, 5}},
                   [](Tensor x) { return rearrange(x, "a 1 b -> 1 b a 1"); });
    check_counting({0, 3}, {{3, 0}, {}}, [](Tensor x) { return rearrange(x, "a b -> b a"); });
}

TEST_CASE("an axis of size 1 may become one of another name, and its gradient comes back") {
    Graph graph;
    Tensor x = make(graph, {.op = Op::input, .shape = {Dim{"ffn", 1}, 3}, .name = "x"});
    output("y", broadcast(exp(x), {Dim{"hidden", 1}, 3}));
    check_gradients(graph, {{"x", {{1, 3}, {0.5, -1, 2}}}});
}

TEST_CASE("a group ends before the arrow") {
    static_assert(ParsedPattern("(a -> a)").mistake == PatternMistake::parentheses);
    static_assert(ParsedPattern("a (b -> (a) b").mistake == PatternMistake::parentheses);
    static_assert(ParsedPattern("(a b) -> (b a)").mistake == PatternMistake::none);
}

TEST_CASE("squeeze, unsqueeze, permute, place_axes") {
    check_counting({2, 1, 2}, counting({2, 2}), [](Tensor x) { return squeeze(x, 1); });
    check_counting({2, 2}, counting({2, 2, 1}), [](Tensor x) { return unsqueeze(x, 2); });
    check_counting({2, 2}, counting({1, 2, 2}), [](Tensor x) { return unsqueeze(x, 0); });
    check_counting({2, 3}, {{3, 2}, {0, 3, 1, 4, 2, 5}},
                   [](Tensor x) { return permute(x, {1, 0}); });
    check_counting({2, 3}, counting({1, 2, 1, 3}),
                   [](Tensor x) { return place_axes(x, 4, {1, 3}); });
}

TEST_CASE("merging axes and splitting them again") {
    check_counting({2, 3, 2}, counting({2, 6}), [](Tensor x) { return merge_axes(x, 1); });
    check_counting({2, 3, 2}, counting({2, 3, 2}), [](Tensor x) {
        Shape shape = x.shape();
        return split_axes(merge_axes(x, 0), 0, shape);
    });
}

TEST_CASE("broadcast repeats") {
    check_counting({2, 1}, {{2, 2, 3}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}},
                   [](Tensor x) { return broadcast(x, {2, 2, 3}); });
    check_counting({}, {{2}, {0, 0}}, [](Tensor x) { return broadcast(x, {2}); });
    check_counting({1}, {{0}, {}}, [](Tensor x) { return broadcast(x, {0}); });
}

TEST_CASE("slices, at the ends and in the middle") {
    check_counting({2, 3}, {{2, 2}, {0, 1, 3, 4}}, [](Tensor x) { return slice(x, 1, 0, 2); });
    check_counting({2, 3}, {{2, 1}, {1, 4}}, [](Tensor x) { return slice(x, 1, 1, 1); });
    check_counting({3, 2}, {{1, 2}, {4, 5}}, [](Tensor x) { return slice(x, 0, 2, 1); });
    check_counting({2, 3}, {{2, 0}, {}}, [](Tensor x) { return slice(x, 1, 3, 0); });
    check_counting({2, 3}, counting({2, 3}), [](Tensor x) { return slice(x, 0, 0, 2); });
}

TEST_CASE("slices in steps, with gradients") {
    check_counting({7}, {{3}, {0, 3, 6}}, [](Tensor x) { return slice(x, 0, 0, 3, 3); });
    check_counting({7}, {{3}, {1, 3, 5}}, [](Tensor x) { return slice(x, 0, 1, 3, 2); });
    check_counting({8}, {{3}, {2, 4, 6}}, [](Tensor x) { return slice(x, -1, 2, 3, 2); });
    check_counting({2, 5}, {{2, 3}, {0, 2, 4, 5, 7, 9}},
                   [](Tensor x) { return slice(x, 1, 0, 3, 2); });
    check_counting({5, 2}, {{2, 2}, {2, 3, 8, 9}}, [](Tensor x) { return slice(x, 0, 1, 2, 3); });
    check_counting({5}, {{1}, {4}}, [](Tensor x) { return slice(x, 0, 4, 1, 7); });
    check_counting({5}, {{0}, {}}, [](Tensor x) { return slice(x, 0, 5, 0, 7); });
    check_counting({1, 2, 1, 2, 1, 4}, {{1, 2, 1, 2, 1, 2}, {0, 2, 4, 6, 8, 10, 12, 14}},
                   [](Tensor x) { return slice(x, 5, 0, 2, 2); });
    check_counting({4, 2, 1, 1, 1, 1}, {{2, 2, 1, 1, 1, 1}, {2, 3, 6, 7}},
                   [](Tensor x) { return slice(x, 0, 1, 2, 2); });
    check_counting({2, 4, 1, 1, 1, 1}, {{2, 2, 1, 1, 1, 1}, {0, 2, 4, 6}},
                   [](Tensor x) { return slice(x, 1, 0, 2, 2); });
}

TEST_CASE("a view that goes backwards, with its gradient") {
    check_counting({2, 3}, {{2, 3}, {2, 1, 0, 5, 4, 3}}, [](Tensor x) {
        return detail::slice_in_steps(x, 1, 2, 3, -1, Location::here());
    });
    check_counting({6}, {{2}, {4, 1}}, [](Tensor x) {
        return detail::slice_in_steps(x, 0, 4, 2, -3, Location::here());
    });
}

TEST_CASE("rearrangements compose") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 12, 3});
    auto axes = [&](Tensor t) { return graph.rearranges[std::size_t(t.node().attribute)]; };
    Tensor split = rearrange(x, "b (h d) t -> b h t d", {"h", 4});
    Tensor back = rearrange(split, "b h t d -> b (h d) t");
    auto identity = compose(axes(split), axes(back));
    REQUIRE(identity);
    CHECK(is_identity(*identity));
    Tensor other = rearrange(split, "b h t (x y) -> (b h) x t y", {"y", 3});
    auto both = compose(axes(split), axes(other));
    REQUIRE(both);
    output("y", other);
    output("z", rearrange(x, *both, {}));
    Arrays arrays{{"x", counting({2, 12, 3})}};
    check_close(run(graph, arrays, "z"), run(graph, arrays, "y"));
    CHECK_FALSE(compose(axes(rearrange(x, "a b c -> a (b c)")),
                        axes(rearrange(input(graph, "w", {2, 36}), "a (b c) -> c b a", {"c", 4}))));
    CHECK(is_permutation(axes(permute(x, {2, 0, 1}))));
    CHECK_FALSE(is_permutation(axes(split)));
}
