// Rows of a generated file's tables, as specs.
#include "runtime/tables.h"

#include <doctest/doctest.h>

#include "runtime/error.h"

using namespace fovea::runtime;

namespace {

const std::vector<std::string> kDimNames = {"batch", "src_len"};

std::string text_of(const char* shape) {
    std::string text;
    for (const Extent& extent : parse_shape(shape, kDimNames))
        text += (text.empty() ? "" : ", ") + extent.text(kDimNames);
    return text;
}

}  // namespace

TEST_CASE("shapes of tables are read as they are printed") {
    for (const char* shape : {"batch", "batch, src_len, 64", "64*batch*src_len", "batch+1", "0"})
        CHECK(text_of((std::string("[") + shape + "]").c_str()) == shape);
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
    const std::vector<TensorSpec> specs = parameter_specs(
        "f32 [8] linear_bias 16 -1 w\0f32 [batch, 2] normal 0 3 a name, of words\0", kDimNames);
    REQUIRE(specs.size() == 2);
    CHECK(specs[0].initial == Initial::linear_bias);
    CHECK(specs[0].fan_in == 16);
    CHECK(specs[0].zero_row == -1);
    CHECK(specs[1].zero_row == 3);
    CHECK(!specs[1].frozen);
    CHECK(specs[1].shape.size() == 2);
    CHECK(specs[1].name == "a name, of words");
}

TEST_CASE("a parameter's row says that it is frozen") {
    const std::vector<TensorSpec> specs =
        parameter_specs("frozen f32 [8] zeros 0 -1 w\0f32 [8] zeros 0 -1 frozen b\0", kDimNames);
    REQUIRE(specs.size() == 2);
    CHECK(specs[0].frozen);
    CHECK(specs[0].name == "w");
    CHECK(!specs[1].frozen);
    CHECK(specs[1].name == "frozen b");
}

TEST_CASE("a parameter's row says how programs read it") {
    const auto specs = parameter_specs(
        "copied f32 [8] zeros 0 -1 w\0frozen copied looked_up f32 [8] zeros 0 -1 t\0", kDimNames);
    REQUIRE(specs.size() == 2);
    CHECK((specs[0].copied && !specs[0].looked_up));
    CHECK((specs[1].frozen && specs[1].copied && specs[1].looked_up));
}

TEST_CASE("names hold anything but the end of a text") {
    CHECK(names_of("").empty());
    CHECK(names_of("one\0two  words\0\tthree]\0") ==
          std::vector<std::string>{"one", "two  words", "\tthree]"});
    const std::vector<TensorSpec> specs = tensor_specs("i32 [] ] f32 [batch\0", kDimNames);
    REQUIRE(specs.size() == 1);
    CHECK(specs[0].dtype == DType::i32);
    CHECK(specs[0].shape.empty());
    CHECK(specs[0].name == "] f32 [batch");
}

TEST_CASE("outputs are written from a phase on, states from any") {
    const std::vector<TensorSpec> specs =
        tensor_specs("12 f32 [8] w.grad\0state f32 [8] w\0f32 [] loss\0", kDimNames);
    REQUIRE(specs.size() == 3);
    CHECK(specs[0].first == 12);
    CHECK(specs[0].name == "w.grad");
    CHECK((specs[1].state && specs[1].first == 0));
    CHECK(specs[2].first == 0);
}

TEST_CASE("buffers live from a phase to a phase, prepared ones always") {
    const std::vector<BufferSpec> specs =
        buffer_specs("2 13 bf16 [batch, 8] a\0prepared bool [4] prepared\0", kDimNames);
    REQUIRE(specs.size() == 2);
    CHECK(specs[0].first == 2);
    CHECK(specs[0].last == 13);
    CHECK(specs[0].dtype == DType::bf16);
    CHECK_FALSE(specs[0].prepared);
    CHECK(specs[1].prepared);
    CHECK(specs[1].name == "prepared");
}

TEST_CASE("a row of unknown words is a bug") {
    CHECK_THROWS_AS(tensor_specs("f64 [8] x\0", kDimNames), InternalError);
    CHECK_THROWS_AS(tensor_specs("f32\0", kDimNames), InternalError);
    CHECK_THROWS_AS(parameter_specs("f32 [8] twos 0 -1 w\0", kDimNames), InternalError);
    CHECK_THROWS_AS(computed_checks("0 names batch ids\0", kDimNames), InternalError);
}
