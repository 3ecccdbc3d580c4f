// Values, text and normal form of extents.
#include "runtime/memory/extent.h"

#include <doctest/doctest.h>

#include "runtime/error.h"
#include "runtime/memory/shape.h"

using namespace fovea::runtime;

TEST_CASE("extent: sums of products have values and text") {
    const Extent batch = Extent::dim(0), len = Extent::dim(1);
    const std::vector<std::string> names = {"batch", "len"};
    const std::vector<std::int64_t> dims = {3, 7};
    const Extent size = Extent(64) * len * batch + 1;
    CHECK(size.text(names) == "64*batch*len+1");
    CHECK(size.value(dims) == 64 * 21 + 1);
    CHECK((batch + Extent(-1)).text(names) == "batch-1");
    CHECK((Extent(-1) * batch).text(names) == "-batch");
    CHECK((batch + len * len).text(names) == "len*len+batch");
    CHECK(((batch + len) * (batch + Extent(-1) * len)).text(names) == "batch*batch-len*len");
}

TEST_CASE("extent: terms that cancel leave nothing") {
    const Extent batch = Extent::dim(0);
    const Extent nothing = batch + Extent(-1) * batch;
    CHECK(nothing.is_constant());
    CHECK(nothing.text({}) == "0");
    CHECK(nothing.value({}) == 0);
    CHECK((Extent(0) * batch).is_constant());
}

TEST_CASE("extent: as_dim is the bare dim only") {
    CHECK(Extent::dim(4).as_dim() == 4);
    CHECK((Extent(2) * Extent::dim(4)).as_dim() == -1);
    CHECK((Extent::dim(4) + 1).as_dim() == -1);
    CHECK(Extent(3).as_dim() == -1);
    CHECK(Extent(3).is_constant());
}

TEST_CASE("extent: overflow is the user's mistake, an unknown dim ours") {
    const std::vector<std::int64_t> huge = {std::int64_t{1} << 40};
    CHECK_THROWS_AS((Extent::dim(0) * Extent::dim(0)).value(huge), UserError);
    CHECK_THROWS_AS(Extent::dim(1).value(huge), InternalError);
}

TEST_CASE("shape: values, counts and text") {
    const std::vector<Extent> shape = {Extent::dim(0), Extent(4)};
    const std::vector<std::int64_t> dims = {5}, negative = {-5};
    CHECK(shape_values(shape, dims) == std::vector<std::int64_t>{5, 4});
    CHECK_THROWS_AS(shape_values(shape, negative), UserError);
    CHECK(shape_text(shape_values(shape, dims)) == "[5, 4]");
    CHECK(shape_text(shape, std::vector<std::string>{"batch"}) == "[batch, 4]");
    CHECK(element_count(std::vector<std::int64_t>{}) == 1);
    CHECK_THROWS_AS(element_count(std::vector<std::int64_t>{1L << 40, 1L << 40}), UserError);
}
