// How weights of whole numbers lie: rows end where their numbers do, as far as groups allow.
#include "runtime/memory/weight_storage.h"

#include <doctest/doctest.h>

using namespace fovea::runtime;

namespace {

/// Bytes that a number takes, with its part of the scales.
double bytes_of_number(const WeightLayout& layout) {
    return double(layout.words()) * 4 / double(layout.rows * layout.depth);
}

}  // namespace

TEST_CASE("a group that shares a scale lies in parts where pairs of it would end behind the row") {
    CHECK(group_in_memory({8, 32}, 96) == 32);
    CHECK(group_in_memory({8, 64}, 576) == 64);
    CHECK(group_in_memory({8, 576}, 576) == 288);
    CHECK(group_in_memory({4, 4096}, 4096) == 2048);
    CHECK(group_in_memory({8, 4096}, 576) == 64);
    CHECK(group_in_memory({8, 64}, 64) == 32);
    CHECK(group_in_memory({8, 48}, 48) == 16);
    CHECK(group_in_memory({8, 64}, 0) == 64);
}

TEST_CASE("a group as long as a row takes no more memory than shorter ones") {
    for (const int bits : {8, 4})
        for (const int depth : {128, 576, 768, 1536, 2048, 4096})
            for (int group = 64; group <= 4096; group += 16) {
                if (group % 32 != 0) continue;
                const WeightLayout layout{{bits, group}, 32, depth};
                CAPTURE(bits);
                CAPTURE(depth);
                CAPTURE(group);
                CHECK(layout.groups() == (depth + group - 1) / group);
                if (group == depth)
                    CHECK(bytes_of_number(layout) <= bytes_of_number({{bits, 32}, 32, depth}));
                // Parts are what parts are cut into, and each has one scale.
                CHECK(group_in_memory({bits, int(layout.group)}, depth) == layout.group);
                CHECK(group % layout.group == 0);
                CHECK(layout.group % 32 == 0);
            }
}
