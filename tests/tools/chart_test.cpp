// Axes and labels of charts.
#include <doctest/doctest.h>

#include "tools/fovea/bench/report.h"
#include "tools/fovea/chart/layered_layout.h"
#include "tools/fovea/chart/place_labels.h"
#include "tools/fovea/chart/svg.h"

using namespace fovea::tool;

TEST_CASE("ticks are round numbers inside the range") {
    CHECK(Scale{.low = 0, .high = 10}.ticks(5) == std::vector<double>{0, 2, 4, 6, 8, 10});
    CHECK(Scale{.low = 3, .high = 45}.ticks(4) == std::vector<double>{20, 40});
    CHECK(Scale{.low = 3, .high = 60, .logarithmic = true}.ticks() ==
          std::vector<double>{5, 10, 20, 50});
    CHECK(Scale{.low = 0.5, .high = 2e4, .logarithmic = true}.ticks() ==
          std::vector<double>{1, 10, 100, 1000, 10000});
    CHECK(tick_text(0.5) == "0.5");
    CHECK(tick_text(12000) == "12,000");
    CHECK(tick_text(3004005) == "3,004,005");
}

TEST_CASE("numbers lie where their logarithms do") {
    const Scale scale{.low = 1, .high = 100, .from = 50, .to = 250, .logarithmic = true};
    CHECK(scale.at(10) == doctest::Approx(150));
    CHECK((Scale{.low = 0, .high = 4, .from = 8, .to = 0}).at(1) == doctest::Approx(6));
}

TEST_CASE("labels of crowded points cover neither points nor each other") {
    const Box area{0, 0, 600, 400}, taken{250, 190, 330, 210};
    std::vector<Label> labels;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 4; ++column)
            labels.push_back({{300.0 + 3 * column, 200.0 + 4 * row}, "a label of a point"});
    place_labels(labels, area, {taken}, 11);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        CAPTURE(i);
        CHECK(labels[i].box.inside(area));
        CHECK(!labels[i].box.overlaps(taken));
        for (std::size_t j = 0; j < labels.size(); ++j) {
            const Point p = labels[j].point;
            CHECK(!labels[i].box.overlaps({p.x - 4, p.y - 4, p.x + 4, p.y + 4}));
            if (i != j) CHECK(!labels[i].box.overlaps(labels[j].box));
        }
    }
}

TEST_CASE("words of a picture are escaped") {
    Svg svg(10, 10);
    svg.text({1, 2}, "a < b & \"c\"");
    CHECK(svg.finish().find(">a &lt; b &amp; &quot;c&quot;</text>") != std::string::npos);
}

TEST_CASE("a disturbed point does not stretch the roofline, and kernels have sizes") {
    Machine machine{.cpu = "cpu", .isa = "avx2", .threads = 2, .peak_gflops = 100, .read_gb_s = 10};
    const auto row_of = [](const char* name, double ms) {
        BenchRow row;
        row.work.suite = "rowwise";
        row.work.name = name;
        row.work.flops = 1e7;
        row.work.bytes = 1e6;
        row.work.dims = {{"batch", 3}, {"len", 70}, {"src_vocab", 9}};
        row.ms.median = ms;
        return row;
    };
    std::vector<BenchRow> rows(20, row_of("softmax", 1));  // 10 GFLOP/s
    rows.push_back(row_of("disturbed", 10'000));           // 0.001
    const std::string picture = roofline(machine, rows);
    CHECK(picture.find(">softmax 3x70<") != std::string::npos);
    CHECK(picture.find("disturbed 3x70: 0.001 GFLOP/s") != std::string::npos);
    CHECK(picture.find(">2<") != std::string::npos);     // a tick
    CHECK(picture.find(">0.01<") == std::string::npos);  // beyond the axis
}

TEST_CASE("layers: arrows run down, and items of a layer stand apart") {
    const std::vector<LayoutItem> items = {{80, 20}, {60, 30}, {60, 30}, {40, 20}, {90, 20}};
    const std::vector<LayoutEdge> edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 4}, {3, 4}, {4, 0}};
    const Layout layout = lay_out(items, edges);
    for (std::size_t e = 0; e + 1 < edges.size(); ++e)
        CHECK(layout.routes[e].front().y < layout.routes[e].back().y);
    for (std::size_t a = 0; a < items.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
            const auto box = [&](std::size_t i) {
                const Point p = layout.corners[i];
                return Box{p.x, p.y, p.x + items[i].width, p.y + items[i].height};
            };
            CHECK(!box(a).overlaps(box(b)));
        }
    CHECK(layout.width >= 142);
}

TEST_CASE("layers: what passes by is upright, and so is a chain beside it") {
    constexpr int kChain = 12;
    std::vector<LayoutItem> items;
    std::vector<LayoutEdge> edges;
    for (int i = 0; i < kChain; ++i) items.push_back({40.0 + 30 * (i % 3), 20});
    const auto connect = [&](int from, int to) {
        edges.push_back(
            {from, to, items[std::size_t(from)].width / 2, items[std::size_t(to)].width / 2});
    };
    for (int i = 0; i + 1 < kChain; ++i) connect(i, i + 1);
    connect(0, kChain - 3);
    const Layout layout = lay_out(items, edges);
    const auto centre = [&](int i) {
        return layout.corners[std::size_t(i)].x + items[std::size_t(i)].width / 2;
    };
    for (int i = 2; i < kChain - 3; ++i) CHECK(centre(i) == doctest::Approx(centre(1)));
    const std::vector<Point>& route = layout.routes.back();
    REQUIRE(route.size() > 6);
    for (std::size_t i = 2; i + 1 < route.size(); ++i)
        CHECK(route[i].x == doctest::Approx(route[route.size() - 2].x));
    CHECK(layout.width < 250);
}

TEST_CASE("layers: what runs up does so on the right of what runs down") {
    using Rank = LayoutItem::Rank;
    using Side = LayoutItem::Side;
    // Forward 0, 1, 2 down; gradients 5, 4, 3 up, of the same three steps.
    std::vector<LayoutItem> items(6, {80, 20, Rank::any, Side::left});
    for (std::size_t i = 3; i < 6; ++i) items[i].side = Side::right;
    std::vector<LayoutEdge> edges = {{0, 1, 40, 40}, {1, 2, 40, 40}};
    edges.push_back({5, 4, 40, 40, true});
    edges.push_back({4, 3, 40, 40, true});
    const Layout layout = lay_out(items, edges);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(layout.corners[i].x + 80 <= layout.corners[i + 3].x);
        CHECK(layout.corners[i].y == layout.corners[i + 3].y);
    }
    CHECK(layout.routes[1].front().y < layout.routes[1].back().y);
    CHECK(layout.routes[3].front().y > layout.routes[3].back().y);
    CHECK(layout.routes[3].front().y == layout.corners[4].y);
    CHECK(layout.routes[3].back().y == layout.corners[3].y + 20);
    // One that is hidden keeps items apart, and has no route.
    items.push_back({80, 20, Rank::any, Side::right});
    edges.push_back({5, 6, 40, 40, true});
    edges.push_back({4, 6, 0, 0, true, true});
    const Layout lifted = lay_out(items, edges);
    CHECK(lifted.corners[6].y < lifted.corners[4].y);
    CHECK(lifted.routes.back().empty());
}

TEST_CASE("the width of words is that of Helvetica") {
    CHECK(text_width("", 10) == 0);
    CHECK(text_width("il", 100) == doctest::Approx(44.4));
    CHECK(text_width("m W~", 100) == doctest::Approx(83.3 + 27.8 + 94.4 + 58.4));
    CHECK(text_width("é", 100) == doctest::Approx(60));
}
