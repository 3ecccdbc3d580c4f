// The picture of attention weights, and the maps' errors.
#include "../../../runtime/translator/attention_svg.h"

#include <doctest/doctest.h>

#include "../../../runtime/error.h"
#include "../../golden.h"
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
