// Axes and labels of charts.
#include <doctest/doctest.h>

#include "tools/fovea/chart/place_labels.h"

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
    for (int i = 0; i < 12; ++i)
        labels.push_back({{300.0 + 3 * (i % 4), 200.0 + 4 * (i / 4)}, "a label of a point"});
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
