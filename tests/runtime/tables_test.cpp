// Rows of a generated file's tables, as specs.
#include "runtime/tables.h"

#include <doctest/doctest.h>

#include "runtime/error.h"

using namespace fovea::runtime;

namespace {

const std::vector<std::string> kDims = {"batch", "src_len"};

std::string text_of(const char* shape) {
    std::string text;
    for (const Extent& extent : parse_shape(shape, kDims))
        text += (text.empty() ? "" : ", ") + extent.text(kDims);
    return text;
}

}  // namespace

TEST_CASE("shapes of tables are read as they are printed") {
    for (const char* shape : {"batch", "batch, src_len, 64", "64*batch*src_len", "batch+1", "0"})
        CHECK(text_of((std::string("[") + shape + "]").c_str()) == shape);
    CHECK(parse_shape("[]", kDims).empty());
    const std::int64_t sizes[] = {3, 5};
    CHECK(parse_shape("[2*batch*src_len-7]", kDims)[0].value(sizes) == 23);
    CHECK(parse_shape("[-batch+src_len]", kDims)[0].value(sizes) == 2);
}

TEST_CASE("a shape that is none is a bug") {
    CHECK_THROWS_AS(parse_shape("batch", kDims), InternalError);
    CHECK_THROWS_AS(parse_shape("[length]", kDims), InternalError);
    CHECK_THROWS_AS(parse_shape("[2x]", kDims), InternalError);
}

TEST_CASE("a parameter's row keeps how it starts") {
    const ParameterRow rows[] = {{"w", DType::f32, "[8]", Initial::linear_bias, 16}};
    const std::vector<TensorSpec> specs = tensor_specs(rows, kDims);
    REQUIRE(specs.size() == 1);
    CHECK(specs[0].initial == Initial::linear_bias);
    CHECK(specs[0].fan_in == 16);
}
