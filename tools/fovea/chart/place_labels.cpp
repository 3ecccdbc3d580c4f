#include "tools/fovea/chart/place_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace fovea::tool {

namespace {

constexpr double kPoint = 5;  // half of what a point takes
constexpr double kGap = 2;    // between labels

double overlap(const Box& a, const Box& b) {
    const double x = std::min(a.right, b.right) - std::max(a.left, b.left);
    const double y = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    return std::max(x, 0.0) * std::max(y, 0.0);
}

Box around(Point point, double half) {
    return {point.x - half, point.y - half, point.x + half, point.y + half};
}

Point nearest(const Box& box, Point point) {
    return {std::clamp(point.x, box.left, box.right), std::clamp(point.y, box.top, box.bottom)};
}

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// Boxes for a label, the best first: right, left, above, below, then on circles.
std::vector<Box> candidates(const Label& label, double size) {
    const double width = text_width(label.words, size), height = size;
    const Point p = label.point;
    auto centred = [&](double x, double y) {
        return Box{x - width / 2, y - height / 2, x + width / 2, y + height / 2};
    };
    const double beside = kPoint + 2 + width / 2, above = kPoint + height / 2;
    std::vector<Box> boxes = {centred(p.x + beside, p.y), centred(p.x - beside, p.y),
                              centred(p.x, p.y - above), centred(p.x, p.y + above)};
    constexpr int kDirections = 24;
    for (double radius = 14; radius < 260; radius += 8)
        for (int i = 0; i < kDirections; ++i) {
            const double angle = 2 * std::numbers::pi * i / kDirections;
            const double side = std::cos(angle) * (radius + width / 2);
            boxes.push_back(centred(p.x + side, p.y - std::sin(angle) * radius));
        }
    return boxes;
}

/// Numbers of labels, those with the most points nearby first.
std::vector<std::size_t> crowded_first(const std::vector<Label>& labels) {
    std::vector<std::size_t> order(labels.size());
    std::iota(order.begin(), order.end(), 0);
    auto neighbours = [&](std::size_t i) {
        return std::count_if(labels.begin(), labels.end(), [&](const Label& other) {
            return distance(labels[i].point, other.point) < 40;
        });
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto of_a = neighbours(a), of_b = neighbours(b);
        return of_a != of_b ? of_a > of_b : a < b;
    });
    return order;
}

}  // namespace

void place_labels(std::vector<Label>& labels, const Box& area, const std::vector<Box>& taken,
                  double size) {
    std::vector<Box> busy = taken;
    for (const Label& label : labels) busy.push_back(around(label.point, kPoint));
    for (std::size_t i : crowded_first(labels)) {
        double least = 1e30;
        for (const Box& box : candidates(labels[i], size)) {
            const Box wide{box.left - kGap, box.top - kGap, box.right + kGap, box.bottom + kGap};
            double covered = wide.inside(area) ? 0 : 1e6;
            for (const Box& other : busy) covered += overlap(wide, other);
            if (covered >= least) continue;
            least = covered;
            labels[i].box = box;
            if (covered == 0) break;
        }
        busy.push_back(labels[i].box);
    }
}

void draw_leader(Svg& svg, const Label& label, std::string_view colour) {
    const Point end = nearest(label.box, label.point);
    if (distance(end, label.point) < kPoint + 4) return;
    svg.line(label.point, end, fmt::format(R"(stroke="{}" stroke-opacity="0.45")", colour));
}

void draw_words(Svg& svg, const Label& label, double size, std::string_view colour) {
    const Box& box = label.box;
    TextStyle style{.size = size, .anchor = Anchor::middle, .colour = colour};
    Point at{(box.left + box.right) / 2, box.bottom - 0.2 * size};
    if (box.left > label.point.x) at.x = box.left, style.anchor = Anchor::start;
    else if (box.right < label.point.x) at.x = box.right, style.anchor = Anchor::end;
    svg.text(at, label.words, style);
}

}  // namespace fovea::tool
