#include "codegen/kernel/analysis/kept_row.h"

#include <doctest/doctest.h>

#include "codegen/kernel/analysis/loop_nest.h"
#include "codegen/kernel/builder.h"

using namespace fovea;
using namespace fovea::kernel;

namespace {

enum class Case { cache, halves, rounded, below, moved_input, by_lane, two_stores };

/// next[step, h] = where(step == position, x[h], cache[step, h]), or something near it.
Kernel updated_cache(Case which) {
    const Dim steps = "steps", hidden = 40;
    Builder it("where");
    const AxisId step = it.axis("step", steps), h = it.axis("h", hidden);
    const int position = it.input("position", {1}, i32), x = it.input("x", {hidden});
    const DType type = which == Case::halves ? bf16 : f32;
    const int cache = it.input("cache", {steps, hidden}, type);
    const int next = it.output("next", {steps, hidden}, type);
    const int copy = it.output("copy", {steps, hidden});
    it.each(step, [&] {
        const AxisId along = which == Case::by_lane ? h : step;
        const Id now = it.load(it.at(position, {-1}));
        const auto compare = which == Case::below ? Elementwise::lt : Elementwise::eq;
        const Id is_new = it.map(compare, {it.index(along), now});
        Access old = it.at(cache, {step, h});
        if (which == Case::moved_input) old.offset = hidden;
        const Id before = which == Case::halves ? it.cast(it.load(old), f32) : it.load(old);
        Id value = it.where(is_new, it.load(it.at(x, {h})), before);
        if (which == Case::halves || which == Case::rounded) value = it.cast(value, bf16);
        it.store(it.at(next, {step, h}), value);
        if (which == Case::two_stores) it.store(it.at(copy, {step, h}), value);
    });
    return it.finish();
}

std::optional<KeptRow> kept_row(Case which) {
    const Kernel kernel = updated_cache(which);
    const AxisId h = 1;
    return kernel::find_kept_row(kernel, kernel::loop_nest(kernel).nodes, h);
}
bool finds_row(Case which) { return kept_row(which).has_value(); }

}  // namespace

TEST_CASE("kept_row: rows of a cache that are stored where they were read") {
    CHECK(finds_row(Case::cache));
    CHECK(finds_row(Case::halves));
    CHECK_FALSE(finds_row(Case::rounded));
    CHECK_FALSE(finds_row(Case::moved_input));
    CHECK_FALSE(finds_row(Case::by_lane));
    CHECK_FALSE(finds_row(Case::two_stores));
}

TEST_CASE("kept_row: the only new row, where its position is said") {
    const AxisId step = 0;
    CHECK(kept_row(Case::cache)->axis == step);
    CHECK(kept_row(Case::cache)->position >= 0);
    CHECK(kept_row(Case::halves)->axis == step);
    CHECK(finds_row(Case::below));
    CHECK(kept_row(Case::below)->position < 0);
}
