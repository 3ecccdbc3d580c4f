// Which rows end at a mask's bound, and what is known past it.
#include "codegen/kernel/analysis/row_tail.h"

#include <doctest/doctest.h>

#include "codegen/kernel/builder.h"
#include "codegen/kernel/infer_types.h"

using namespace fovea;
using namespace fovea::kernel;
using E = Elementwise;

namespace {

/// A row kernel over x [m, n] with lengths [m]; `body(it, x, shorter, row, key)` makes what is
/// stored.
struct Cut {
    Kernel kernel;
    std::optional<RowTail> tail;
};
template <class Body>
Cut cut(const Body& body, DType dtype = f32) {
    Builder it("rows");
    const AxisId row = it.axis("row", "m"), key = it.axis("key", "n");
    const int x = it.input("x", {"m", "n"}), lens = it.input("lens", {"m"}, i32);
    const int y = it.output("y", {"m", "n"}, dtype);
    it.each(row, [&] {
        const Id value = it.load(it.at(x, {row, key}));
        const Id shorter = it.lt(it.index(key), it.load(it.at(lens, {row})));
        it.store(it.at(y, {row, key}), body(it, value, shorter, row, key));
    });
    Cut result{it.finish(), {}};
    const Loop& rows = *as<Loop>(result.kernel, result.kernel.body[0]);
    const std::vector<Id> nodes = rows.body;
    result.tail = cut_row_tail(result.kernel, nodes, key);
    return result;
}

int count_where(const Kernel& kernel) {
    int count = 0;
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
        if (const Map* map = as<Map>(kernel, id)) count += map->function == E::where;
    return count;
}

}  // namespace

TEST_CASE("a row ends at its length, and its mask is dropped") {
    const Cut rows = cut([](Builder& it, Id x, Id shorter, AxisId, AxisId key) {
        const Id scores = it.where(shorter, x, it.constant(-1e6));
        return it.sub(scores, it.max(scores, {key}));
    });
    REQUIRE(rows.tail);
    CHECK(as<Load>(rows.kernel, rows.tail->bound));
    CHECK(count_where(rows.kernel) == 0);
}

TEST_CASE("the least of several bounds, and masks that say more than the bound stay") {
    const Cut rows = cut([](Builder& it, Id x, Id shorter, AxisId row, AxisId key) {
        const Id both = it.map(E::logical_and, {shorter, it.le(it.index(key), it.index(row))});
        const Id allowed = it.map(E::logical_and, {both, it.lt(it.constant(0), x)});
        return it.add(it.where(both, x, it.constant(2)), it.where(allowed, x, it.constant(0)));
    });
    REQUIRE(rows.tail);
    const Map* bound = as<Map>(rows.kernel, rows.tail->bound);
    REQUIRE(bound);
    CHECK(bound->function == E::minimum);
    CHECK(count_where(rows.kernel) == 1);
}

TEST_CASE("a row up to and with a position ends after it") {
    const Cut rows = cut([](Builder& it, Id x, Id, AxisId, AxisId key) {
        return it.where(it.le(it.index(key), it.constant(4, i32)), x, it.constant(0));
    });
    REQUIRE(rows.tail);
    const Constant* end = as<Constant>(rows.kernel, rows.tail->bound);
    REQUIRE(end);
    CHECK(end->value == 5);
}

TEST_CASE("a sum of whole constants is whole") {
    Kernel kernel;
    for (double number : {4.0, 1.0}) kernel.nodes.push_back({Constant{number}, {}, i32, ""});
    CHECK(tile_dtype(kernel, Map{E::add, {0, 1}}, f32) == i32);
}

TEST_CASE("0 times anything is 0") {
    const Cut rows = cut([](Builder& it, Id x, Id shorter, AxisId row, AxisId key) {
        const Id factor = it.random(0, 0.5, {{row, 1}}, {{key, 1}});
        return it.mul(it.where(shorter, x, it.constant(0)), factor);
    });
    REQUIRE(rows.tail);
}

TEST_CASE("rows that are not cut") {
    const auto plain = [](Builder&, Id x, Id, AxisId, AxisId) { return x; };
    CHECK(!cut(plain).tail);  // no mask
    CHECK(!cut([](Builder& it, Id x, Id shorter, AxisId, AxisId) {
               return it.add(it.where(shorter, x, it.constant(0)), x);  // differs past the bound
           }).tail);
    CHECK(!cut([](Builder& it, Id x, Id shorter, AxisId row, AxisId key) {
               const Id factor = it.random(0, 0.5, {{row, 1}}, {{key, 1}});
               return it.mul(it.where(shorter, x, it.constant(1)), factor);
           }).tail);
    CHECK(!cut([](Builder& it, Id x, Id shorter, AxisId, AxisId) {
               const Id longer = it.map(E::logical_not, {shorter});  // the start is hidden
               return it.where(longer, x, it.constant(0));
           }).tail);
    const auto floats = [](Builder& it, Id x, Id shorter, AxisId, AxisId) {
        return it.where(shorter, x, it.constant(0));
    };
    CHECK(!cut(floats, bf16).tail);
    const Cut unchanged = cut(plain);
    CHECK(unchanged.kernel.nodes.size() == cut(plain).kernel.nodes.size());
}
