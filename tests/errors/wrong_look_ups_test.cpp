// So do look-ups by several ids, and masks of segments.
#include "codegen/graph/scan_function.h"
#include "codegen/optimize/guard_ids.h"
#include "tests/errors/wrong_calls.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::vector<WrongCall> kByIds = {
    {"at", "f32 [batch, len]", [](Given& g) { at(g.x, {g.ids, g.m}); }},
    {"at", "3 ids for the axes of the table [batch, len]",
     [](Given& g) { at(g.m, {g.ids, g.ids, g.ids}); }},
    {"at", "0 ids for the axes of the table [4]", [](Given& g) { at(g.v, {}); }},
    {"at", "empty", [](Given& g) { at(g.empty, {g.ids}); }},
    {"at", "empty", [](Given& g) { at(g.x, {g.ids, g.empty}); }},
    {"add", "len is not 6", [](Given& g) { at(g.x, {g.ids, g.s.input("z", {"batch", 6}, i32)}); }},
    {"masked_softmax", "6 and 4", [](Given& g) { masked_softmax(g.x, same(g.ids)); }},
    {"masked_softmax", "i32 [batch, 6], got i32 [batch, len]",
     [](Given& g) { masked_softmax(einsum("bqd,bkd->bqk", g.x, g.x), same(g.ids)); }},
    {"attention", "i32 [batch, 6], got f32 [batch, len]",
     [](Given& g) { attention(g.x, g.x, g.x, dot_product, same(g.m)); }},
    {"attention", "i32 [batch, 6], got f32 [4]",
     [](Given& g) { attention(g.x, g.x, g.x, dot_product, same(g.ids) & same(g.v)); }},
    {"same", "empty", [](Given& g) { attention(g.x, g.x, g.x, dot_product, same(g.empty)); }},
};

}  // namespace

TEST_CASE("look-ups and segments refuse wrong arguments") {
    check_calls("wrong_look_ups_test.cpp", kByIds);
}

TEST_CASE("ids of a score that may lie outside of the table are refused") {
    const auto refused = [](auto&& id) {
        Graph graph;
        const Scope s{&graph};
        Tensor x = s.input("x", {"batch", "len", 8}), table = s.input("table", {9});
        Tensor shift = s.input("shift", {"batch"}, i32);
        s.output("y", attention(x, x, x, [&](Pair p) {
                     return dot_product(p) + at(table, {id(p, shift)});
                 }));
        try {
            guard_ids(seal_scans(graph));
        } catch (const UserError& error) {
            return std::string(error.what()).find("table of 9 rows") != std::string::npos;
        }
        return false;
    };
    CHECK(refused([](Pair p, Tensor) { return p.j - p.i; }));
    CHECK(refused([](Pair p, Tensor) { return clamp(p.j - p.i, -4, 5) + 4; }));
    CHECK(refused([](Pair p, Tensor) { return p.j / 2; }));
    CHECK(refused([](Pair p, Tensor shift) { return p.j % 8 + gather(shift, p.batch); }));
    CHECK(!refused([](Pair p, Tensor) { return clamp(p.j - p.i, -4, 4) + 4; }));
    CHECK(!refused([](Pair p, Tensor shift) { return (p.j + gather(shift, p.batch)) % 9; }));
}
