// Rows of a generated file's tables, as specs.
#include "runtime/tables.h"

#include <doctest/doctest.h>

#include "runtime/error.h"

using namespace fovea::runtime;

namespace {

const std::vector<std::string> kDimNames = {"batch", "src_len"};

std::string text_of_shape(const char* shape) {
    std::string text;
    for (const Extent& extent : parse_shape(shape, kDimNames))
        text += (text.empty() ? "" : ", ") + extent.text(kDimNames);
    return text;
}

}  // namespace

TEST_CASE("shapes of tables are read as they are printed") {
    for (const char* shape : {"batch", "batch, src_len, 64", "64*batch*src_len", "batch+1", "0"})
        CHECK(text_of_shape((std::string("[") + shape + "]").c_str()) == shape);
    CHECK(parse_shape("[]", kDimNames).empty());
    const std::int64_t sizes[] = {3, 5};
    CHECK(parse_shape("[2*batch*src_len-7]", kDimNames)[0].value(sizes) == 23);
    CHECK(parse_shape("[-batch+src_len]", kDimNames)[0].value(sizes) == 2);
}

TEST_CASE("a shape that is none is a bug") {
    CHECK_THROWS_AS(parse_shape("batch", kDimNames), InternalError);
    CHECK_THROWS_AS(parse_shape("[length]", kDimNames), InternalError);
    CHECK_THROWS_AS(parse_shape("[2x]", kDimNames), InternalError);
}

TEST_CASE("a parameter's row keeps how it starts") {
    const ParameterRow rows[] = {{"w", DType::f32, "[8]", Initial::linear_bias, 16}};
    const std::vector<TensorSpec> specs = tensor_specs(rows, kDimNames);
    REQUIRE(specs.size() == 1);
    CHECK(specs[0].initial == Initial::linear_bias);
    CHECK(specs[0].fan_in == 16);
}
