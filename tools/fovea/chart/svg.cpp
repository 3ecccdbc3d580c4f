#include "tools/fovea/chart/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fovea::tool {

namespace {

constexpr const char* kAnchors[] = {"start", "middle", "end"};
constexpr const char* kHalo =
    R"( paint-order="stroke" stroke="#fff" stroke-opacity="0.8" stroke-width="3")";

/// Whether `text_width` is exact for Helvetica and Arial.
bool has_known_widths(std::string_view words) {
    return std::all_of(words.begin(), words.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string result;
    for (char c : text) {
        if (c == '&') result += "&amp;";
        else if (c == '<') result += "&lt;";
        else if (c == '>') result += "&gt;";
        else if (c == '"') result += "&quot;";
        else result += c;
    }
    return result;
}

Svg::Svg(double width, double height)
    : body_(fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.6g} {1:.6g}\" "
          "width=\"{0:.6g}\" height=\"{1:.6g}\" font-family=\"Helvetica, Arial, sans-serif\">\n"
          "<rect width=\"{0:.6g}\" height=\"{1:.6g}\" fill=\"#fff\"/>\n",
          width, height)) {}

void Svg::line(Point from, Point to, std::string_view style) {
    fmt::format_to(std::back_inserter(body_),
                   "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", from.x,
                   from.y, to.x, to.y, style);
}

void Svg::polyline(const std::vector<Point>& points, std::string_view style) {
    body_ += "<polyline points=\"";
    for (const Point& point : points)
        fmt::format_to(std::back_inserter(body_), "{:.1f},{:.1f} ", point.x, point.y);
    fmt::format_to(std::back_inserter(body_), "\" {}/>\n", style);
}

void Svg::curve(const std::vector<Point>& points, std::string_view style) {
    if (points.empty()) return;
    const Point& end = points.back();
    const double head = end.y < points[0].y ? 6 : -6;
    fmt::format_to(std::back_inserter(body_), "<path d=\"M{:.1f},{:.1f}", points[0].x, points[0].y);
    for (std::size_t i = 1; i < points.size(); ++i) {
        const Point &a = points[i - 1], &b = points[i];
        const double middle = (a.y + b.y) / 2;
        fmt::format_to(std::back_inserter(body_), " C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}",
                       a.x, middle, b.x, middle, b.x, b.y);
    }
    fmt::format_to(std::back_inserter(body_),
                   " M{:.1f},{:.1f} L{:.1f},{:.1f} L{:.1f},{:.1f}\" {}/>\n", end.x - 3.5,
                   end.y + head, end.x, end.y, end.x + 3.5, end.y + head, style);
}

void Svg::circle(Point centre, double radius, std::string_view style) {
    fmt::format_to(std::back_inserter(body_),
                   "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}/>\n", centre.x, centre.y,
                   radius, style);
}

void Svg::rectangle(const Box& box, std::string_view style) {
    fmt::format_to(std::back_inserter(body_),
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n",
                   box.left, box.top, box.right - box.left, box.bottom - box.top, style);
}

void Svg::text(Point at, std::string_view words, const TextStyle& style) {
    std::string turn;
    if (style.upward) turn = fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", at.x, at.y);
    // Where neither Helvetica nor Arial is installed, another font takes their room.
    std::string room;
    if (!style.bold && words.size() > 1 && has_known_widths(words))
        room = fmt::format(" textLength=\"{:.1f}\" lengthAdjust=\"spacingAndGlyphs\"",
                           text_width(words, style.size));
    fmt::format_to(std::back_inserter(body_),
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\" "
                   "fill=\"{}\"{}{}{}{}>{}</text>\n",
                   at.x, at.y, style.size, kAnchors[int(style.anchor)], style.colour,
                   style.bold ? " font-weight=\"bold\"" : "", style.halo ? kHalo : "", turn, room,
                   escaped(words));
}

void Svg::begin_group(std::string_view title) {
    fmt::format_to(std::back_inserter(body_), "<g><title>{}</title>\n", escaped(title));
}

double text_width(std::string_view words, double size) {
    // Of Helvetica and Arial, in thousandths of the size, from the blank on.
    constexpr short kWidths[] = {
        278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
        556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
        1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
        667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
        333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
        556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};
    double sum = 0;
    for (const char c : words) {
        const auto place = std::size_t(static_cast<unsigned char>(c)) - ' ';
        if (place < std::size(kWidths)) sum += kWidths[place];
        else if ((c & 0xC0) != 0x80) sum += 600;  // the first byte of a letter beyond ASCII
    }
    return sum * size / 1000;
}

double Scale::at(double value) const {
    const double share =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
}

std::vector<double> Scale::ticks(int count) const {
    std::vector<double> result;
    if (logarithmic) {
        const bool room = std::log10(high / low) < 3;
        for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
            for (double digit : {1.0, 2.0, 5.0})
                if ((room || digit == 1) && digit * power >= low && digit * power <= high)
                    result.push_back(digit * power);
        return result;
    }
    const double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough)));
    double step = power;
    for (double digit : {2.0, 5.0, 10.0})
        if (step < rough * 0.99) step = digit * power;
    for (double i = std::ceil(low / step); i * step <= high * (1 + 1e-9); ++i)
        result.push_back(i * step);
    return result;
}

std::string tick_text(double value) {
    if (value < 1000) return fmt::format("{:.6g}", value);
    const auto whole = std::llround(value);
    if (whole < 1'000'000) return fmt::format("{},{:03}", whole / 1000, whole % 1000);
    return fmt::format("{},{:03},{:03}", whole / 1'000'000, whole / 1000 % 1000, whole % 1000);
}

}  // namespace fovea::tool
