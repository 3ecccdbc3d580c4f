// Broken loops over tiles are refused.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "codegen/base/error.h"
#include "codegen/kernel/analysis/blocks.h"
#include "codegen/kernel/builder.h"
#include "codegen/kernel/verify_kernel.h"
#include "tests/lower/attention_kernels.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

Id tiles_loop(const Kernel& kernel) {
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
        if (auto loop = as<Loop>(kernel, id); loop && loop->kind == LoopKind::tiles) return id;
    return -1;
}

Loop& loop_of(Kernel& kernel) { return *as<Loop>(kernel, tiles_loop(kernel)); }

struct TileBreakage {
    const char* says;
    std::function<void(Kernel&)> damage;
};

const TileBreakage kTileBreakages[] = {
    {"has bounds or carried values and is no loop over tiles",
     [](Kernel& k) { loop_of(k).kind = LoopKind::par; }},
    {"has a bound that is not i32",
     [](Kernel& k) { loop_of(k).upper = loop_of(k).carries[1].initial; }},
    {"is the next value of a loop that does not make it",
     [](Kernel& k) { loop_of(k).carries[1].next = loop_of(k).carries[1].initial + 1000; }},
    {"has another type than the carried value it becomes",
     [](Kernel& k) { loop_of(k).carries[1].next = loop_of(k).carries[2].next; }},
    {"is carried by a loop that it is not in",
     [](Kernel& k) { loop_of(k).carries[0].argument = loop_of(k).carries[0].initial; }},
    {"is the result of nothing that a loop before it carries",
     [](Kernel& k) {
         for (kernel::Node& node : k.nodes)
             if (auto result = std::get_if<Result>(&node.operation)) result->number = 7;
     }},
    {"outside its loop",
     [](Kernel& k) {
         const Id loop = tiles_loop(k);
         const Id key = as<Loop>(k, loop)->axis;
         const auto positions = positions_of(k);
         insert_node(k, positions[std::size_t(loop)].loops.back(),
                     positions[std::size_t(loop)].index, Index{key}, i32);
     }},
};

}  // namespace

TEST_CASE("every broken loop over tiles is refused") {
    for (const TileBreakage& breakage : kTileBreakages) {
        CAPTURE(breakage.says);
        Kernel kernel = attention_forward(attention_variant("causal_padded"));
        breakage.damage(kernel);
        std::string text = "no exception";
        try {
            verify_kernel(kernel);
        } catch (const InternalError& error) {
            text = error.what();
        }
        CHECK_MESSAGE(text.find(breakage.says) != std::string::npos, text);
    }
}

TEST_CASE("a bound may not move along its own axis") {
    Builder b("circular");
    const AxisId k = b.axis("k", "n");
    const int y = b.output("y", {"n"});
    const Id bound = b.index(k);
    b.tiles(k, {-1, bound}, {}, [&](auto) {
        b.store(b.at(y, {k}), b.fill(0, {k}));
        return std::vector<Id>{};
    });
    CHECK_THROWS_AS(b.finish(), InternalError);
}

TEST_CASE("valid stands inside of its loop") {
    Builder b("stray");
    const AxisId k = b.axis("k", "n");
    CHECK_THROWS_AS(b.valid(k), InternalError);
}
