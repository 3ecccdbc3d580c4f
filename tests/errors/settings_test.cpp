// Settings that are lists, from text and in a model that the compiler runs.
#include "dsl/settings.h"

#include <doctest/doctest.h>

#include <vector>

#include <fovea.h>

namespace {

enum class Kind { sliding, full };

/// What is another in each layer.
struct LayerSettings {
    std::vector<Kind> kinds = {Kind::sliding, Kind::full};
    std::vector<fovea::Dim> widths = {64, 32};
    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("kinds", kinds, {"sliding", "full"});
        visit("widths", widths);
    }
};

constexpr void of_layers(fovea::Scope s, const LayerSettings& settings) {
    fovea::Tensor x = s.input("x", {"batch", 64});
    for (const fovea::Dim& width : settings.widths)
        x = fovea::linear(s / int(&width - settings.widths.data()), x, width);
    s.output("y", x);
}
static_assert(fovea::well_formed<[](fovea::Scope s) { of_layers(s, {}); }>);

/// One that matters in training alone.
struct Dropping {
    double rate = 0.1;
    fovea::Dim width = 8;
    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("rate", rate, fovea::in_training);
        visit("width", width);
    }
};

}  // namespace

TEST_CASE("a setting may be one of training alone, and is set like any other") {
    const auto listed = fovea::list_settings<Dropping>();
    REQUIRE(listed.size() == 2);
    CHECK(listed[0].name == "rate");
    CHECK(listed[0].default_text == "0.1");
    CHECK(listed[0].in_training);
    CHECK(!listed[1].in_training);
    Dropping dropping;
    fovea::set_field(dropping, "rate", "0.5");
    CHECK(dropping.rate == 0.5);
    CHECK(dropping.width.value() == 8);
    CHECK_THROWS_AS(fovea::set_field(dropping, "rate", "half"), fovea::UserError);
}

TEST_CASE("a setting may be a list, of values apart by commas") {
    LayerSettings settings;
    fovea::set_field(settings, "kinds", "full,sliding,full");
    fovea::set_field(settings, "widths", "");
    CHECK(settings.kinds == std::vector{Kind::full, Kind::sliding, Kind::full});
    CHECK(settings.widths.empty());
    const auto listed = fovea::list_settings<LayerSettings>();
    CHECK(listed[0].kind == "list of sliding|full");
    CHECK(listed[0].default_text == "sliding,full");
    CHECK(listed[1].kind == "list of size");
    CHECK(listed[1].default_text == "64,32");
    for (const char* text : {"full,wide", "full,", ","})
        CHECK_THROWS_AS(fovea::set_field(settings, "kinds", text), fovea::UserError);
    CHECK(settings.kinds.size() == 3);
}
