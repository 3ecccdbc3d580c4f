// Fusion off beside fusion on, as a picture.
#include <fmt/format.h>

#include <algorithm>

#include "tools/fovea/chart/svg.h"
#include "tools/fovea/compare/compare_report.h"

namespace fovea::tool {

namespace {

constexpr double kChartWidth = 1280, kChartHeight = 520, kTop = 110, kBottom = 450;
constexpr std::string_view kColours[] = {"#D55E00", "#0072B2"};  // off, on
constexpr const char* kForms[] = {"fusion off", "fusion on"};

/// One quantity of both forms.
struct Panel {
    const char* title;
    const char* quantity;  // that there is less of with fusion; empty: time
    double (*value)(const FormCost&);
    double left;

    Box box() const { return {left, kTop, left + 340, kBottom}; }
    double of(const CompareRow& row, int form) const { return value(form ? row.on : row.off); }
    /// `2.6 times faster`, `1/2.6 of the bytes`; within 5 %: `as fast`
    std::string gain(const CompareRow& row) const {
        const double ratio = of(row, 0) / of(row, 1), times = std::max(ratio, 1 / ratio);
        const bool is_less = ratio >= 1;
        if (times < 1.05) return *quantity ? fmt::format("the same {}", quantity) : "as fast";
        if (!*quantity) return fmt::format("{:.1f} times {}", times, is_less ? "faster" : "slower");
        return fmt::format("{}{:.1f}{} the {}", is_less ? "1/" : "", times,
                           is_less ? " of" : " times", quantity);
    }
};
constexpr Panel kPanels[] = {
    {"time, ms", "", [](const FormCost& cost) { return cost.ms; }, 70},
    {"peak memory, MB", "memory", [](const FormCost& cost) { return cost.peak_bytes / 1e6; }, 490},
    {"bytes moved (counted), MB", "bytes", [](const FormCost& cost) { return cost.bytes / 1e6; },
     910}};

std::string number_text(double value) {
    return value < 1000 ? fmt::format("{:.3g}", value) : tick_text(value);
}

void draw_frame(Svg& svg, const Panel& panel, const Scale& y) {
    const Box box = panel.box();
    for (double value : y.ticks()) {
        svg.line({box.left, y.at(value)}, {box.right, y.at(value)}, R"(stroke="#e4e4e4")");
        svg.text({box.left - 6, y.at(value) + 4}, tick_text(value),
                 {.size = 11, .anchor = Anchor::end});
    }
    svg.rectangle(box, R"(fill="none" stroke="#999")");
    svg.text({box.left, box.top - 10}, panel.title, {.size = 14, .bold = true});
}

class SweepChart {
  public:
    SweepChart(Svg& svg, const Comparison& comparison) : svg_(svg), comparison_(comparison) {}

    void draw(const Panel& panel) const {
        const Box box = panel.box();
        const Scale x = x_scale(box), y = y_scale(panel);
        draw_frame(svg_, panel, y);
        draw_sizes(box, x);
        if (comparison_.crossover) draw_crossover(box, x);
        for (int form : {0, 1}) draw_form(panel, x, y, form);
        draw_ratio(panel);
    }

  private:
    double size_of(const CompareRow& row) const { return double(row.dims.at(comparison_.swept)); }

    Scale x_scale(const Box& box) const {
        const double low = size_of(comparison_.rows.front());
        const double high = size_of(comparison_.rows.back());
        const double margin = low == high ? 2 : 1;
        return {low / margin, high * margin, box.left + 24, box.right - 24, true};
    }
    Scale y_scale(const Panel& panel) const {
        double low = panel.of(comparison_.rows.front(), 0), high = low;
        for (const CompareRow& row : comparison_.rows)
            for (int form : {0, 1}) {
                low = std::min(low, panel.of(row, form));
                high = std::max(high, panel.of(row, form));
            }
        return {low / 1.5, high * 1.5, kBottom, kTop, true};
    }
    void draw_sizes(const Box& box, const Scale& x) const {
        double last = -1e9;
        for (const CompareRow& row : comparison_.rows) {
            const double at = x.at(size_of(row));
            svg_.line({at, box.bottom}, {at, box.bottom + 4}, R"(stroke="#999")");
            const std::string words = tick_text(size_of(row));
            if (at - last < text_width(words, 11) + 6) continue;
            svg_.text({at, box.bottom + 17}, words, {.size = 11, .anchor = Anchor::middle});
            last = at;
        }
        svg_.text({(box.left + box.right) / 2, box.bottom + 36}, comparison_.swept,
                  {.size = 13, .anchor = Anchor::middle});
    }
    void draw_crossover(const Box& box, const Scale& x) const {
        const double at = x.at(double(*comparison_.crossover));
        svg_.line({at, box.top}, {at, box.bottom},
                  R"(stroke="#00805f" stroke-width="1.5" stroke-dasharray="5 4")");
    }
    void draw_form(const Panel& panel, const Scale& x, const Scale& y, int form) const {
        std::vector<Point> points;
        for (const CompareRow& row : comparison_.rows)
            points.push_back({x.at(size_of(row)), y.at(panel.of(row, form))});
        svg_.polyline(points,
                      fmt::format(R"(fill="none" stroke="{}" stroke-width="2")", kColours[form]));
        for (std::size_t i = 0; i < points.size(); ++i) {
            const CompareRow& row = comparison_.rows[i];
            svg_.begin_group(fmt::format("{}, {}={}: {}", kForms[form], comparison_.swept,
                                         size_of(row), number_text(panel.of(row, form))));
            svg_.circle(points[i], 4, fmt::format(R"(fill="{}")", kColours[form]));
            svg_.end_group();
        }
    }
    /// What fusion gains at the largest size; curves rise, so this corner is empty.
    void draw_ratio(const Panel& panel) const {
        const CompareRow& row = comparison_.rows.back();
        svg_.text({panel.left + 38, kTop + 26},
                  fmt::format("{} at {}", panel.gain(row), tick_text(size_of(row))),
                  {.size = 14, .colour = kColours[1], .bold = true});
    }

    Svg& svg_;
    const Comparison& comparison_;
};

void draw_bars(Svg& svg, const Panel& panel, const CompareRow& row) {
    const Box box = panel.box();
    const double high = 1.15 * std::max({panel.of(row, 0), panel.of(row, 1), 1e-9});
    const Scale y{.low = 0, .high = high, .from = box.bottom, .to = box.top};
    draw_frame(svg, panel, y);
    for (int form : {0, 1}) {
        const double centre = box.left + (form ? 245 : 95), value = panel.of(row, form);
        svg.rectangle({centre - 50, y.at(value), centre + 50, box.bottom},
                      fmt::format(R"(fill="{}")", kColours[form]));
        svg.text({centre, y.at(value) - 6}, number_text(value),
                 {.size = 13, .anchor = Anchor::middle, .bold = true});
        svg.text({centre, box.bottom + 17}, kForms[form], {.anchor = Anchor::middle});
    }
}

void draw_title(Svg& svg, const Comparison& comparison) {
    svg.text({70, 34}, fmt::format("{}: fusion off and on", comparison.model),
             {.size = 19, .bold = true});
    svg.text({70, 58},
             fmt::format("program {}, {} threads, {}", comparison.program, comparison.threads,
                         comparison.fixed_dims()),
             {.size = 13, .colour = "#555"});
    if (comparison.swept.empty()) return;
    double x = 910;
    for (int form : {0, 1}) {
        svg.line({x, 30}, {x + 26, 30},
                 fmt::format(R"(stroke="{}" stroke-width="2")", kColours[form]));
        svg.circle({x + 13, 30}, 4, fmt::format(R"(fill="{}")", kColours[form]));
        svg.text({x + 34, 34}, kForms[form], {.size = 13});
        x += 130;
    }
    if (!comparison.crossover) return;
    svg.line({910, 53}, {936, 53}, R"(stroke="#00805f" stroke-width="1.5" stroke-dasharray="5 4")");
    svg.text({944, 58},
             fmt::format("measured faster from {}={} on", comparison.swept, *comparison.crossover),
             {.size = 13});
}

}  // namespace

std::string compare_chart(const Comparison& comparison) {
    Svg svg(kChartWidth, kChartHeight);
    draw_title(svg, comparison);
    for (const Panel& panel : kPanels) {
        if (comparison.swept.empty()) draw_bars(svg, panel, comparison.rows.front());
        else SweepChart(svg, comparison).draw(panel);
    }
    return svg.finish();
}

}  // namespace fovea::tool
