// Layouts through views: which rearrangements are read in place, which are stored in place.
#include <doctest/doctest.h>

#include "codegen/fuse/layout.h"
#include "dsl/fovea.h"

using namespace fovea;
using namespace fovea::fuse;

namespace {

struct Viewed {
    Graph graph;
    Tensor x, y;

    const RearrangeAxes& axes() const { return graph.rearranges.back(); }
};

/// x [batch, len, 12] and a rearrangement of it.
template <class Make>
void view(Viewed& v, const Shape& shape, Make make) {
    v.x = Scope{&v.graph}.input("x", shape);
    v.y = make(v.x);
}

}  // namespace

TEST_CASE("splitting heads is read in place") {
    Viewed v;
    view(v, {"batch", "len", 12},
         [](Tensor x) { return rearrange(x, "b t (h d) -> b h t d", {"h", 3}); });
    auto layout = rearranged(row_major(v.x.id, v.x.shape()), v.axes());
    REQUIRE(layout);
    REQUIRE(is_strided(*layout));
    CHECK(stride_of(*layout, 0) == Dim("len") * 12);
    CHECK(stride_of(*layout, 1) == Dim(4));
    CHECK(stride_of(*layout, 2) == Dim(12));
    CHECK(stride_of(*layout, 3) == Dim(1));
    CHECK_FALSE(is_whole(*layout));
}

TEST_CASE("merging heads is stored in place, not read") {
    Viewed v;
    view(v, {"batch", 3, "len", 4}, [](Tensor x) { return rearrange(x, "b h t d -> b t (h d)"); });
    auto read = rearranged(row_major(v.x.id, v.x.shape()), v.axes());
    REQUIRE(read);
    CHECK_FALSE(is_strided(*read));
    Layout stored = stored_rearranged(v.y.id, v.y.shape(), v.axes());
    REQUIRE(is_strided(stored));
    CHECK(stride_of(stored, 1) == Dim(4));
    CHECK(stride_of(stored, 2) == Dim(12));
}

TEST_CASE("merging neighbours is the same memory") {
    Viewed v;
    view(v, {"batch", "len", 12}, [](Tensor x) { return rearrange(x, "b t h -> (b t) h"); });
    auto layout = rearranged(row_major(v.x.id, v.x.shape()), v.axes());
    REQUIRE(layout);
    CHECK(is_whole(*layout));
    CHECK(stride_of(*layout, 0) == Dim(12));
}

TEST_CASE("a slice moves the start") {
    Layout layout = row_major(1, {"batch", 10, 4});
    auto part = stepped(layout, {.axis = 1, .first = Dim(3), .along = {{Dim(2), 1}}});
    REQUIRE(part);
    CHECK(part->offset == Dim(12));
    CHECK(stride_of(*part, 0) == Dim(40));
    CHECK(part->dims[1][0].extent == Dim(2));
    CHECK_FALSE(is_whole(*part));
}

TEST_CASE("steps and windows of an axis have strides of their own") {
    const Layout layout = row_major(1, {"batch", 10, 4});
    const auto back = stepped(layout, {.axis = 1, .first = Dim(9), .along = {{Dim(4), -3}}});
    REQUIRE(back);
    CHECK(back->offset == Dim(36));
    CHECK(stride_of(*back, 1) == Dim(-12));
    const auto windows = stepped(layout, {.axis = 1, .along = {{Dim(4), 2}, {Dim(3), 1}}});
    REQUIRE(windows);
    CHECK(windows->dims.size() == 4);
    CHECK(stride_of(*windows, 1) == Dim(8));
    CHECK(stride_of(*windows, 2) == Dim(4));
    CHECK(stride_of(*windows, 3) == Dim(1));
    CHECK_FALSE(is_whole(*windows));
}

TEST_CASE("dims of extent 1 have no factor and no stride") {
    Layout layout = row_major(1, {"batch", 1, 4});
    CHECK(layout.dims[1].empty());
    CHECK(stride_of(layout, 1) == Dim(0));
    CHECK(stride_of(layout, 0) == Dim(4));
}

TEST_CASE("an axis without positions is moved, split and cut like any other") {
    const Shape shape{0, 1, 7};
    const Layout layout = row_major(1, shape);
    CHECK(is_whole(layout));
    CHECK(stride_of(layout, 2) == Dim(1));
    RearrangeAxes merged = detail::keep_axes(shape);
    merged.output_group = {1, 2, -1, -1, -1, -1};
    const std::optional<Layout> made = rearranged(layout, merged);
    REQUIRE(made);
    CHECK(is_strided(*made));
    CHECK(stepped(row_major(1, {1, 4}), {.axis = 0, .first = Dim(1), .along = {{Dim(0), 1}}}));
}
