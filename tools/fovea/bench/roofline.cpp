// The roofline chart (Williams, Waterman and Patterson 2009).
#include <fmt/format.h>

#include <algorithm>

#include "tools/fovea/bench/report.h"
#include "tools/fovea/chart/place_labels.h"
#include "tools/fovea/chart/svg.h"

namespace fovea::tool {

namespace {

constexpr double kPictureWidth = 1280, kHeight = 860, kLabelSize = 11;
constexpr Box kPlot{70, 70, 1250, 790};

/// Okabe and Ito's colours, which colour-blind readers tell apart.
std::string_view colour_of(const std::string& suite) {
    if (suite == "contraction") return "#0072B2";
    if (suite == "attention") return "#D55E00";
    if (suite == "rowwise") return "#00805f";
    return suite == "models" ? "#9b3f86" : "#555";
}

double intensity(const BenchRow& row) { return row.work.flops / row.work.bytes; }

struct Axes {
    Scale x, y;

    Point at(double flop_per_byte, double gflops) const {
        return {x.at(flop_per_byte), y.at(gflops)};
    }
};

/// The least rate that the axis shows: one run that others disturbed does not stretch it. What is
/// slower than a quarter of the slowest tenth lies on the edge, and says its rate.
double least_rate(const std::vector<BenchRow>& rows, double peak) {
    if (rows.empty()) return peak;
    std::vector<double> rates;
    for (const BenchRow& row : rows) rates.push_back(row.gflops());
    std::sort(rates.begin(), rates.end());
    return std::max(rates[0], rates[(rates.size() - 1) / 10] / 4);
}

Axes axes_for(const Machine& machine, const std::vector<BenchRow>& rows) {
    double left = 1, right = machine.peak_gflops / machine.read_gb_s;
    for (const BenchRow& row : rows) {
        left = std::min(left, intensity(row));
        right = std::max(right, intensity(row));
    }
    const double low = std::min(machine.peak_gflops, least_rate(rows, machine.peak_gflops));
    return {{left / 2, right * 3, kPlot.left, kPlot.right, true},
            {low / 2, machine.peak_gflops * 1.6, kPlot.bottom, kPlot.top, true}};
}

void draw_grid(Svg& svg, const Axes& axes) {
    constexpr std::string_view kGrid = R"(stroke="#e4e4e4")";
    for (double value : axes.x.ticks()) {
        const double x = axes.x.at(value);
        svg.line({x, kPlot.top}, {x, kPlot.bottom}, kGrid);
        svg.text({x, kPlot.bottom + 18}, tick_text(value), {.anchor = Anchor::middle});
    }
    for (double value : axes.y.ticks()) {
        const double y = axes.y.at(value);
        svg.line({kPlot.left, y}, {kPlot.right, y}, kGrid);
        svg.text({kPlot.left - 8, y + 4}, tick_text(value), {.anchor = Anchor::end});
    }
    svg.rectangle(kPlot, R"(fill="none" stroke="#999")");
    svg.text({(kPlot.left + kPlot.right) / 2, kPlot.bottom + 42},
             "floating point operations per byte of operands and results",
             {.size = 13, .anchor = Anchor::middle});
    svg.text({22, (kPlot.top + kPlot.bottom) / 2}, "GFLOP/s",
             {.size = 13, .anchor = Anchor::middle, .upward = true});
}

/// Words along the roof keep off the points.
class Roof {
  public:
    Roof(Svg& svg, const Axes& axes, const Machine& machine, const std::vector<Box>& points)
        : svg_(svg), points_(points) {
        const double peak = machine.peak_gflops, bandwidth = machine.read_gb_s;
        const double start = std::max(axes.x.low, axes.y.low / bandwidth);
        const Point foot = axes.at(start, start * bandwidth);
        const Point ridge = axes.at(peak / bandwidth, peak), end = axes.at(axes.x.high, peak);
        svg.polyline({foot, ridge, end}, R"(fill="none" stroke="#222" stroke-width="2")");
        keep_free(foot, ridge);
        keep_free(ridge, end);
        const std::string flat =
            fmt::format("{:.0f} GFLOP/s, float32, {} threads", peak, machine.threads);
        write(flat, {ridge.x + 8, ridge.y - 8}, Anchor::start);
        write_beside(fmt::format("{:.1f} GB/s from memory", bandwidth), foot, ridge);
    }
    /// What labels of points keep off.
    const std::vector<Box>& taken() const { return taken_; }

  private:
    static constexpr double kSize = 13;

    Box box_of(const std::string& words, Point at, Anchor anchor) const {
        const double width = 1.08 * text_width(words, kSize);
        const double left = anchor == Anchor::end ? at.x - width : at.x;
        return {left, at.y - kSize, left + width, at.y + 4};
    }
    void write(const std::string& words, Point at, Anchor anchor) {
        svg_.text(at, words, {.size = kSize, .anchor = anchor, .bold = true});
        taken_.push_back(box_of(words, at, anchor));
    }
    /// At the slope's first free place from above, left of it or right.
    void write_beside(const std::string& words, Point foot, Point ridge) {
        for (double t = 0.85; t > 0.1; t -= 0.05)
            for (const Point& offset : {Point{-14, 4}, {14, 4}, {-8, -14}, {8, 22}}) {
                const Anchor anchor = offset.x < 0 ? Anchor::end : Anchor::start;
                const Point at{foot.x + t * (ridge.x - foot.x) + offset.x,
                               foot.y + t * (ridge.y - foot.y) + offset.y};
                const Box box = box_of(words, at, anchor);
                if (box.inside(kPlot) && is_free(box, points_) && is_free(box, taken_))
                    return write(words, at, anchor);
            }
    }
    static bool is_free(const Box& box, const std::vector<Box>& others) {
        return std::none_of(others.begin(), others.end(),
                            [&](const Box& other) { return other.overlaps(box); });
    }
    void keep_free(Point from, Point to) {
        for (int i = 0; i <= 100; ++i) {
            const double t = i / 100.0, x = from.x + t * (to.x - from.x);
            const double y = from.y + t * (to.y - from.y);
            taken_.push_back({x - 4, y - 3, x + 4, y + 3});
        }
    }

    Svg& svg_;
    const std::vector<Box>& points_;
    std::vector<Box> taken_;
};

/// `8x1024x1024`: the sizes of what is measured, but where the name has them.
std::string sizes_of(const Work& work) {
    if (work.suite == "contraction") return "";
    std::vector<std::string> sizes;
    for (const auto& [dim, size] : work.dims)
        if (dim.find("vocab") == dim.npos) sizes.push_back(std::to_string(size));
    return fmt::format(" {}", fmt::join(sizes, "x"));
}

std::string label_of(const BenchRow& row, const Axes& axes) {
    std::string words = row.work.name + sizes_of(row.work);
    if (row.work.pass == "backward") words += ", backward";
    if (row.gflops() < axes.y.low) words += fmt::format(": {:.2g} GFLOP/s", row.gflops());
    return words;
}

void draw_mark(Svg& svg, Point at, const Work& work) {
    const std::string_view colour = colour_of(work.suite);
    const bool hollow = work.pass == "backward";
    svg.circle(
        at, 4.5,
        fmt::format(R"(fill="{}" stroke="{}" stroke-width="2")", hollow ? "#fff" : colour, colour));
}

std::vector<Label> labels_of(const Axes& axes, const std::vector<BenchRow>& rows) {
    std::vector<Label> labels;
    for (const BenchRow& row : rows)
        labels.push_back(
            {axes.at(intensity(row), std::max(row.gflops(), axes.y.low)), label_of(row, axes)});
    return labels;
}

std::vector<Box> boxes_of_points(const std::vector<Label>& labels) {
    constexpr double kHalf = 8;
    std::vector<Box> boxes;
    for (const Label& label : labels) {
        const Point p = label.point;
        boxes.push_back({p.x - kHalf, p.y - kHalf, p.x + kHalf, p.y + kHalf});
    }
    return boxes;
}

void draw_rows(Svg& svg, const std::vector<BenchRow>& rows, const std::vector<Label>& labels) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        draw_leader(svg, labels[i], colour_of(rows[i].work.suite));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const BenchRow& row = rows[i];
        svg.begin_group(fmt::format("{}: {:.4g} ms, {:.1f} GFLOP/s, {:.0f}% of the peak",
                                    labels[i].words, row.ms.median, row.gflops(),
                                    100 * row.fraction()));
        draw_mark(svg, labels[i].point, row.work);
        draw_words(svg, labels[i], kLabelSize, colour_of(row.work.suite));
        svg.end_group();
    }
}

void draw_legend(Svg& svg, const Machine& machine, const std::vector<BenchRow>& rows) {
    svg.text({kPlot.left, 30}, "What the generated kernels reach", {.size = 19, .bold = true});
    svg.text({kPlot.left, 52},
             fmt::format("{}, {}; above the slope, operands come from the caches", machine.cpu,
                         machine.isa),
             {.size = 13, .colour = "#555"});
    double x = kPlot.right;
    auto entry = [&](const std::string& words, const Work& work) {
        x -= text_width(words, 13);
        svg.text({x, 52}, words, {.size = 13});
        draw_mark(svg, {x - 10, 48}, work);
        x -= 34;
    };
    Work backward;
    auto any = [&](auto&& is) { return std::any_of(rows.begin(), rows.end(), is); };
    if (any([](const BenchRow& row) { return row.work.pass == "backward"; })) {
        backward.pass = "backward";
        entry("hollow: backward", backward);
    }
    for (const char* suite : {"models", "rowwise", "attention", "contraction"}) {
        if (!any([&](const BenchRow& row) { return row.work.suite == suite; })) continue;
        Work work;
        work.suite = suite;
        entry(suite, work);
    }
}

}  // namespace

std::string roofline(const Machine& machine, const std::vector<BenchRow>& rows) {
    Svg svg(kPictureWidth, kHeight);
    const Axes axes = axes_for(machine, rows);
    draw_grid(svg, axes);
    std::vector<Label> labels = labels_of(axes, rows);
    const std::vector<Box> points = boxes_of_points(labels);
    const Roof roof(svg, axes, machine, points);
    place_labels(labels, kPlot, roof.taken(), kLabelSize);
    draw_rows(svg, rows, labels);
    draw_legend(svg, machine, rows);
    return svg.finish();
}

}  // namespace fovea::tool
