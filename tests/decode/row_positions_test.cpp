// Sequences of different lengths take steps together.
#include "codegen/decode/row_positions.h"

#include <doctest/doctest.h>

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
