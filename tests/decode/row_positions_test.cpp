// Sequences of different lengths take steps together.
#include "codegen/decode/row_positions.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include "codegen/decode/derive_decoding.h"
#include "codegen/graph/scan_function.h"
#include "codegen/optimize/select_mode.h"
#include "models/registry.h"
#include "tests/decode/token_by_token.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("sequences of every model that is decoded have positions of their own") {
    int decoded = 0;
    for (const ModelEntry& entry : models::built_in_models()) {
        CAPTURE(entry.name);
        const Graph graph = select_mode(seal_scans(entry.build(entry.small_settings)), false);
        if (why_not_decodable(graph)) continue;
        ++decoded;
        CHECK(has_row_positions(derive_decoding(graph).step));
    }
    CHECK(decoded >= 9);
}

namespace {

/// A model of 8 features of each word, whose logits `make` gives; `texts` at once.
template <class Make>
Graph model_of_words(const Dim& texts, Make&& make) {
    Graph graph;
    Scope s{&graph};
    Tensor ids = s.input("ids", {texts, "len"}, i32);
    Tensor x = embedding(s / "words", ids, 29, 8);
    s.output("logits", linear(s / "head", make(s, x), 11));
    return graph;
}

}  // namespace

TEST_CASE("where a step has one position for all, it is right, too") {
    const auto attend = [](Scope, Tensor x) { return attention(x, x, x, dot_product, causal); };
    const Graph of_two_texts = model_of_words(Dim(kReadTexts), attend);
    const Graph in_a_product = model_of_words("batch", [](Scope s, Tensor x) {
        Tensor waves = sinusoids(s, "len", 8);
        return x + unsqueeze(einsum("b t d, t d -> b t", x, waves), 2);
    });
    for (const Graph* model : {&of_two_texts, &in_a_product}) {
        CHECK(!has_row_positions(derive_decoding(*model).step));
        check_token_by_token(*model, {1, 7});
    }
    CHECK(why_not_row_positions(derive_decoding(in_a_product).step)
              .value_or("")
              .ends_with("reads the position of all sequences"));
}
