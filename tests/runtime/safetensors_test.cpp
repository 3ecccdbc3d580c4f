// Reading and writing safetensors: round trips, equal bytes, and a sentence for every corruption.
#include "runtime/safetensors.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "runtime/error.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::TemporaryFolder;

namespace {

std::vector<std::byte> raw(std::string_view text) {
    const Bytes bytes = bytes_of(text);
    return {bytes.begin(), bytes.end()};
}

/// A file with this header and `data` zero bytes; `claimed` overrides the header's length.
std::vector<std::byte> file_with(const std::string& header, std::size_t data = 0,
                                 std::optional<std::uint64_t> claimed = {}) {
    const std::uint64_t length = claimed.value_or(header.size());
    std::vector<std::byte> bytes(8);
    std::memcpy(bytes.data(), &length, 8);
    const auto text = raw(header);
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.resize(bytes.size() + data);
    return bytes;
}

std::string complaint_of_bytes(std::vector<std::byte> bytes) {
    try {
        (void)parse_safetensors("f", std::move(bytes));
    } catch (const UserError& error) {
        const std::string text = error.what(), start = "'f' is not a valid safetensors file: ";
        CHECK(text.starts_with(start));
        return text.substr(start.size());
    }
    return "accepted";
}

std::string entry(const char* dtype, const char* shape, const char* offsets) {
    return std::string("{\"dtype\":\"") + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
}

}  // namespace

TEST_CASE("safetensors: what is written reads back") {
    const TemporaryFolder folder;
    const std::string path = folder.file("w.safetensors");
    const std::vector<float> values = {1, 2, 3, 4, 5, 6};
    const std::vector<std::int32_t> ids = {7, 8};
    const std::vector<std::uint8_t> flags = {0, 1, 1};
    std::vector<TensorView> tensors = {{"flags", "BOOL", {3}, std::as_bytes(std::span(flags))},
                                       f32_tensor("b.weight", {2, 3}, values),
                                       {"empty", "F32", {0, 5}, {}},
                                       {"a", "I32", {2}, std::as_bytes(std::span(ids))},
                                       f32_tensor("scalar", {}, std::span(values).first(1))};
    write_safetensors(path, tensors, {{"step", "12"}, {"model", "m \"x\""}});

    const SafetensorsFile file = read_safetensors(path);
    CHECK(file.path() == path);
    CHECK(file.metadata() == Metadata{{"model", "m \"x\""}, {"step", "12"}});
    CHECK(file.metadata_at("step") == "12");
    CHECK_THROWS_AS((void)file.metadata_at("seed"), UserError);
    CHECK(file.tensors().size() == 5);
    CHECK(file.find("none") == nullptr);
    const TensorView* weight = file.find("b.weight");
    REQUIRE(weight);
    CHECK(weight->dtype == "F32");
    CHECK(weight->shape == std::vector<std::int64_t>{2, 3});
    CHECK(std::memcmp(weight->bytes.data(), std::as_bytes(std::span(values)).data(), 24) == 0);
    CHECK(file.find("scalar")->bytes.size() == 4);
    CHECK(file.find("empty")->bytes.empty());

    const auto bytes = read_file(path);
    std::reverse(tensors.begin(), tensors.end());
    write_safetensors(path, tensors, {{"model", "m \"x\""}, {"step", "12"}});
    CHECK(read_file(path) == bytes);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    CHECK(length % 8 == 0);
}

TEST_CASE("safetensors: the bytes of a small file") {
    const TemporaryFolder folder;
    const std::string path = folder.file("w");
    const std::vector<float> one = {1};
    write_safetensors(path, {f32_tensor("x", {1}, one)}, {{"k", "v"}});
    const std::string header =
        R"({"__metadata__":{"k":"v"},"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    auto expected = file_with(header + std::string((8 - header.size() % 8) % 8, ' '), 4);
    std::memcpy(expected.data() + expected.size() - 4, one.data(), 4);
    CHECK(read_file(path) == expected);
}

TEST_CASE("safetensors: tensors that cannot be written are our mistake") {
    const std::vector<float> one = {1};
    CHECK_THROWS_AS(write_safetensors("unwritten", {f32_tensor("x", {2}, one)}), InternalError);
    CHECK_THROWS_AS(
        write_safetensors("unwritten", {f32_tensor("x", {1}, one), f32_tensor("x", {1}, one)}),
        InternalError);
}

TEST_CASE("safetensors: a missing file is named") {
    CHECK_THROWS_WITH_AS(read_safetensors("/nonexistent/w"),
                         "cannot read '/nonexistent/w': No such file or directory", UserError);
}

TEST_CASE("safetensors: corrupt beginnings") {
    CHECK(complaint_of_bytes({}) ==
          "it has 0 bytes, fewer than the 8 that hold the length of its header");
    CHECK(complaint_of_bytes(raw("1234567")) ==
          "it has 7 bytes, fewer than the 8 that hold the length of its header");
    CHECK(complaint_of_bytes(raw("PK\x03\x04 and more")) ==
          "it is a zip archive, as torch.save writes: write it by safetensors.torch");
    CHECK(complaint_of_bytes(file_with("{}", 0, 3)) ==
          "its header claims 3 bytes, but only 2 follow");
    CHECK(complaint_of_bytes(file_with("{}", 0, 100'000'001)) ==
          "its header claims 100000001 bytes, the limit is 100000000");
    CHECK(complaint_of_bytes(file_with("{}", 0, 1ULL << 63))
              .starts_with("its header claims 92233720"));
    CHECK(complaint_of_bytes(file_with("")) ==
          "its header is not JSON: line 1, column 1: expected a value, found the end of the text");
    CHECK(complaint_of_bytes(file_with("{\"a\":}"))
              .starts_with("its header is not JSON: line 1, column 6"));
    CHECK(complaint_of_bytes(file_with("{}", 0, 1)).starts_with("its header is not JSON"));
    CHECK(complaint_of_bytes(file_with("[]")) ==
          "its header should be a JSON object, but is of kind array");
    CHECK(complaint_of_bytes(file_with("{}")) == "accepted");
    CHECK(complaint_of_bytes(file_with("{}  ")) == "accepted");
}

TEST_CASE("safetensors: headers of the wrong types") {
    const auto tensor = [](const std::string& text) {
        return complaint_of_bytes(file_with("{\"x\":" + text + "}", 8));
    };
    CHECK(complaint_of_bytes(file_with("{\"__metadata__\":1}")) == "__metadata__ is not an object");
    CHECK(complaint_of_bytes(file_with("{\"__metadata__\":{\"k\":1}}")) ==
          "__metadata__ 'k' should be a string, but is of kind integer");
    CHECK(tensor("1") == "the entry of tensor 'x' is not an object");
    CHECK(tensor("{}") == "tensor 'x' has no 'dtype'");
    CHECK(tensor("{\"dtype\":1}") == "tensor 'x': dtype is not a string");
    CHECK(tensor("{\"dtype\":\"F33\"}") == "tensor 'x' has the unknown dtype 'F33'");
    CHECK(tensor("{\"dtype\":\"F32\"}") == "tensor 'x' has no 'shape'");
    CHECK(tensor(entry("F32", "2", "[0,8]")) == "tensor 'x': shape is not an array");
    CHECK(tensor(entry("F32", "[2.0]", "[0,8]")) ==
          "tensor 'x': shape should hold whole numbers from 0, but holds 2.0");
    CHECK(tensor(entry("F32", "[-2]", "[0,8]")) ==
          "tensor 'x': shape should hold whole numbers from 0, but holds -2");
    CHECK(tensor(entry("F32", "[2]", "[0,8,9]")) ==
          "tensor 'x': data_offsets is not an array of two numbers");
    CHECK(tensor(entry("F32", "[2]", "[0,\"8\"]")) ==
          "tensor 'x': data_offsets should hold whole numbers from 0, but holds \"8\"");
    CHECK(tensor("{\"dtype\":\"F32\",\"shape\":[2]}") == "tensor 'x' has no 'data_offsets'");
    CHECK(tensor(entry("F32", "[2]", "[0,8]")) == "accepted");
}

TEST_CASE("safetensors: offsets that do not fit") {
    const auto tensors = [](const std::string& text, std::size_t data) {
        return complaint_of_bytes(file_with("{" + text + "}", data));
    };
    const auto x = [](const char* shape, const char* offsets) {
        return "\"x\":" + entry("F32", shape, offsets);
    };
    CHECK(tensors(x("[2]", "[8,0]"), 8) == "tensor 'x': data_offsets run backwards, 8 to 0");
    CHECK(tensors(x("[2]", "[0,8]"), 7) ==
          "tensor 'x' has its data at bytes 0 to 8, but the file holds only 7 bytes of data "
          "(is it truncated?)");
    CHECK(tensors(x("[3]", "[0,8]"), 8) == "tensor 'x', F32 [3], should have 12 bytes, but has 8");
    CHECK(tensors(x("[4294967296,4294967296,4]", "[0,8]"), 8) ==
          "tensor 'x' has an impossible shape [4294967296, 4294967296, 4]");
    CHECK(tensors(x("[2]", "[0,8]"), 9) ==
          "its tensors end at byte 8 of its data, but 9 bytes are there");
    CHECK(tensors(x("[1]", "[4,8]"), 8) == "bytes 0 to 4 of its data belong to no tensor");
    const std::string y = ",\"y\":" + entry("F32", "[2]", "[4,12]");
    CHECK(tensors(x("[2]", "[0,8]") + y, 12) == "the data of tensors 'x' and 'y' overlap");
    CHECK(tensors(x("[1]", "[0,4]") + y, 12) == "accepted");
    CHECK(tensors(x("[2]", "[4,12]") + y, 12) == "bytes 0 to 4 of its data belong to no tensor");
    CHECK(tensors(x("[2]", "[0,8]") + "," + x("[2]", "[0,8]"), 8)
              .find("the key \"x\" stands twice") != std::string::npos);
    CHECK(tensors(x("[0]", "[0,0]") + ",\"y\":" + entry("F32", "[2]", "[0,8]"), 8) == "accepted");
}

TEST_CASE("safetensors: every truncation of a valid file is refused") {
    const TemporaryFolder folder;
    const std::string path = folder.file("w");
    const std::vector<float> values(5, 1.0F);
    write_safetensors(path, {f32_tensor("x", {5}, values)});
    const auto bytes = read_file(path);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        auto part = bytes;
        part.resize(size);
        CHECK(complaint_of_bytes(std::move(part)) != "accepted");
    }
}

TEST_CASE("safetensors: every dtype of the format is recognised") {
    const char* const names[] = {"BOOL", "U8",  "I8",  "F8_E4M3", "F8_E5M2", "I16", "U16", "F16",
                                 "BF16", "I32", "U32", "F32",     "I64",     "U64", "F64"};
    const char* const ends[] = {"[0,1]", "[0,1]", "[0,1]", "[0,1]", "[0,1]",
                                "[0,2]", "[0,2]", "[0,2]", "[0,2]", "[0,4]",
                                "[0,4]", "[0,4]", "[0,8]", "[0,8]", "[0,8]"};
    const std::size_t sizes[] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8};
    for (std::size_t i = 0; i < 15; ++i) {
        CHECK(complaint_of_bytes(file_with("{\"x\":" + entry(names[i], "[1]", ends[i]) + "}",
                                           sizes[i])) == "accepted");
    }
}

TEST_CASE("copy_tensor: shapes, dtypes and booleans are checked") {
    auto bytes = file_with("{\"x\":" + entry("BOOL", "[2,1]", "[0,2]") + "}", 2);
    bytes.back() = std::byte{2};
    const SafetensorsFile file = parse_safetensors("f", std::move(bytes));
    const TensorView& x = *file.find("x");
    std::vector<std::uint8_t> target(2);
    const std::vector<std::int64_t> shape = {2, 1}, other = {2};
    CHECK_THROWS_WITH_AS(copy_tensor(file, x, "input", DType::boolean, other, target.data()),
                         "input 'x' in 'f' has shape [2, 1], expected [2]", UserError);
    CHECK_THROWS_WITH_AS(copy_tensor(file, x, "input", DType::f32, shape, target.data()),
                         "input 'x' in 'f' has dtype BOOL, expected F32", UserError);
    CHECK_THROWS_WITH_AS(copy_tensor(file, x, "input", DType::boolean, shape, target.data()),
                         "input 'x' in 'f' holds the byte 2 where a boolean is 0 or 1", UserError);
}
