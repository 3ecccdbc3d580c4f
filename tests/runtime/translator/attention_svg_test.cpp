// The picture of attention weights, and the maps' errors.
#include "../../../runtime/translator/attention_svg.h"

#include <doctest/doctest.h>

#include "../../../runtime/error.h"
#include "../../../runtime/safetensors.h"
#include "../../../runtime/translator/saved_maps.h"
#include "../../golden.h"
#include "../temporary_folder.h"
#include "fake_model.h"

using namespace fovea::runtime;

TEST_CASE("attention_svg: panels for modules and heads, tokens beside the axes") {
    const std::vector<AttentionMap> maps = {{.name = "encoder.attention.weights",
                                             .heads = 2,
                                             .queries = 2,
                                             .keys = 2,
                                             .weights = {1, 0, 0.25F, 0.75F, 0.5F, 0.5F, 0, 1}},
                                            {.name = "decoder.attention2.weights",
                                             .heads = 1,
                                             .queries = 3,
                                             .keys = 2,
                                             .query_axis = MapAxis::target,
                                             .key_axis = MapAxis::source,
                                             .weights = {0.1F, 0.9F, 1, 0, 0.5F, 0.5F}}};
    fovea::test::check_golden(
        "translator/attention.svg",
        attention_svg(maps, {{"<go>", "&"}, {"<bos>", "ça", "va"}, {"ça", "va", "<eos>"}}));
}

TEST_CASE("attention_maps: a model without attention says so") {
    const Model model = fake::make_model(8);
    Parameters parameters(model, {});
    const std::vector<std::int32_t> tokens = {4, 3};
    std::string message;
    try {
        (void)attention_maps(model, parameters, {}, tokens, 2, tokens);
    } catch (const UserError& error) {
        message = error.what();
    }
    CHECK(message == "transformer has no attention whose weights could be shown");
}

namespace {

std::string message_of_reading(const std::string& path) {
    try {
        (void)read_attention_maps(path);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("maps are read as they were saved, with their tokens") {
    const fovea::test::TemporaryFolder folder;
    const std::string path = folder.file("maps.safetensors");
    SavedMaps saved;
    saved.maps = {{.name = "decoder.attention2.weights",
                   .heads = 1,
                   .queries = 3,
                   .keys = 2,
                   .query_axis = MapAxis::target,
                   .key_axis = MapAxis::source,
                   .weights = {0.1F, 0.9F, 1, 0, 0.5F, 0.5F}},
                  {.name = "encoder.attention.weights",
                   .heads = 2,
                   .queries = 2,
                   .keys = 2,
                   .weights = {1, 0, 0.25F, 0.75F, 0.5F, 0.5F, 0, 1}}};
    saved.tokens = {{"<go>", "\"&\""}, {"<bos>", "ça", "va"}, {"ça", "va", "<eos>"}};
    save_attention_maps(path, saved);
    const SavedMaps read = read_attention_maps(path);
    CHECK(attention_svg(read.maps, read.tokens) == attention_svg(saved.maps, saved.tokens));

    // A sentence that does not fit.
    saved.tokens.produced.pop_back();
    save_attention_maps(path, saved);
    CHECK(message_of_reading(path) ==
          "'decoder.attention2.weights' of '" + path +
              "' is no attention map: it has 3 queries and 2 keys for 2 and 2 tokens");
}

TEST_CASE("tensors alone are maps whose tokens are numbers") {
    const fovea::test::TemporaryFolder folder;
    const std::string path = folder.file("maps.safetensors");
    const std::vector<float> weights = {0.1F, 0.9F, 1, 0, 0.5F, 0.5F};
    write_safetensors(path, {f32_tensor("a.weights", {1, 2, 3}, weights)});
    const SavedMaps read = read_attention_maps(path);
    REQUIRE(read.maps.size() == 1);
    CHECK(read.maps[0].weights == weights);
    CHECK(read.tokens.source == std::vector<std::string>{"1", "2", "3"});
    CHECK(attention_svg(read.maps, read.tokens).find("2 → 3: 0.5<") != std::string::npos);

    write_safetensors(path, {f32_tensor("a.weights", {2, 3}, weights)});
    CHECK(message_of_reading(path) == "'a.weights' of '" + path +
                                          "' is no attention map: one is F32 of rank 3: heads, "
                                          "queries, keys");
    write_safetensors(path, {});
    CHECK(message_of_reading(path) == "'" + path + "' has no attention maps");
}
