// Loading parameters by name: aliases, and a sentence for what is missing or does not fit.
#include "runtime/load_parameters.h"

#include <doctest/doctest.h>

#include "runtime/error.h"
#include "tests/runtime/counted_tensor.h"
#include "tests/runtime/small_model.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::counted;
using fovea::test::counted_tensor;
using fovea::test::small_model;

namespace {

/// Loads these tensors into the small model; what it throws, or "loaded".
std::string load(std::vector<TensorView> tensors) {
    const fovea::test::TemporaryFolder folder;
    write_safetensors(folder.file("w"), std::move(tensors));
    Parameters parameters(small_model(), {{"in", 3}, {"vocab", 5}});
    try {
        load_parameters(parameters, parse_safetensors("w", read_file(folder.file("w"))), "adam.");
    } catch (const UserError& error) {
        return error.what();
    }
    CHECK(parameters.values(0)[2] == 3);
    CHECK(parameters.values(1)[19] == 20);
    CHECK(parameters.values(2)[7] == 8);
    return "loaded";
}

}  // namespace

TEST_CASE("load_parameters: by name, by alias, and past tables of positions") {
    const TensorView scale = counted_tensor("scale", {3}), table = counted_tensor("table", {5, 4});
    const TensorView bias = counted_tensor("bias", {8}), tied = counted_tensor("tied.scale", {3});
    CHECK(load({scale, table, bias}) == "loaded");
    CHECK(load({tied, table, bias}) == "loaded");
    CHECK(load({tied, scale, table, bias}) == "loaded");
    CHECK(load({scale, table, bias, counted_tensor("encoder.pos_table", {2}),
                counted_tensor("bn.num_batches_tracked", {1}), counted_tensor("adam.m", {1})}) ==
          "loaded");
    TensorView other = tied;
    other.bytes = std::as_bytes(std::span(counted()).subspan(1, 3));
    CHECK(load({other, scale, table, bias}) ==
          "'scale' and 'tied.scale' in 'w' are one tensor in small, but differ there");
}

TEST_CASE("load_parameters: of a newer format, nothing is read") {
    const fovea::test::TemporaryFolder folder;
    for (const char* format : {"1", "2", "99999999999999999999"}) {
        write_safetensors(folder.file("w"),
                          {counted_tensor("scale", {3}), counted_tensor("table", {5, 4}),
                           counted_tensor("bias", {8})},
                          {{"fovea_format", format}});
        Parameters parameters(small_model(), {{"in", 3}, {"vocab", 5}});
        const auto fill = [&] { load_parameters(parameters, read_safetensors(folder.file("w"))); };
        if (std::string_view(format) == "1") CHECK_NOTHROW(fill());
        else CHECK_THROWS_AS(fill(), UserError);
        CHECK((parameters.values(0)[2] == 3) == (std::string_view(format) == "1"));
    }
}

TEST_CASE("load_parameters: bfloat16 and float16 are widened") {
    const std::uint16_t one_to_three[][3] = {{0x3f80, 0x4000, 0x4040}, {0x3c00, 0x4000, 0x4200}};
    for (int half = 0; half < 2; ++half) {
        TensorView scale = counted_tensor("scale", {3});
        scale.dtype = half ? "F16" : "BF16";
        scale.bytes = std::as_bytes(std::span(one_to_three[half]));
        CHECK(load({scale, counted_tensor("table", {5, 4}), counted_tensor("bias", {8})}) ==
              "loaded");
    }
}

TEST_CASE("load_parameters: missing, misshapen and mistyped") {
    const TensorView scale = counted_tensor("scale", {3}), table = counted_tensor("table", {5, 4});
    CHECK(load({scale}) == "'w' lacks parameter 'table' of small and 1 more");
    CHECK(load({scale, table}) == "'w' lacks parameter 'bias' of small");
    CHECK(load({scale, table, counted_tensor("bias", {2, 4})}) ==
          "parameter 'bias' in 'w' has shape [2, 4], expected [8]");
    TensorView bias = counted_tensor("bias", {8});
    bias.dtype = "I32";
    CHECK(load({scale, table, bias}) ==
          "parameter 'bias' in 'w' has dtype I32, but weights are taken as F32, BF16 or F16: save "
          "it as one of these");
}

TEST_CASE("load_parameters: what was written loads again") {
    const fovea::test::TemporaryFolder folder;
    Parameters written(small_model(), {{"in", 3}, {"vocab", 5}});
    Parameters read(small_model(), {{"in", 3}, {"vocab", 5}});
    written.initialize(1);
    write_safetensors(folder.file("w"), parameter_tensors(written));
    load_parameters(read, read_safetensors(folder.file("w")));
    for (std::size_t i = 0; i < read.flat_size(); ++i) {
        CHECK(read.flat()[i] == written.flat()[i]);
    }
}

TEST_CASE("a bias whose layer takes an open width is loaded, and not drawn") {
    Model model = small_model();
    model.parameters[2].fan_in = 0;
    Parameters parameters(model, {{"in", 3}, {"vocab", 5}});
    CHECK_THROWS_WITH_AS(parameters.initialize(1),
                         "'bias' is drawn by the width of what its layer takes, which the model "
                         "leaves open: give it a number, or load weights",
                         UserError);
}
