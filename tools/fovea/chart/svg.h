// Pictures as SVG text: shapes, words, and axes that turn numbers into places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::tool {

struct Point {
    double x = 0, y = 0;
};

struct Box {
    double left = 0, top = 0, right = 0, bottom = 0;

    bool overlaps(const Box& other) const {
        return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
    bool inside(const Box& other) const {
        return left >= other.left && right <= other.right && top >= other.top &&
               bottom <= other.bottom;
    }
};

enum class Anchor { start, middle, end };

/// How words look. Sizes are in pixels.
struct TextStyle {
    double size = 12;
    Anchor anchor = Anchor::start;
    std::string_view colour = "#222";
    bool bold = false;
    bool upward = false;  // turned by a quarter
    bool halo = false;    // light around the letters, over lines
};

/// A picture on a white ground that needs nothing from elsewhere. `style` is a list of attributes:
/// `stroke="#ccc" fill="none"`.
class Svg {
  public:
    Svg(double width, double height);

    void line(Point from, Point to, std::string_view style);
    void polyline(const std::vector<Point>& points, std::string_view style);
    /// An arrow through points, upright at each of them; its head points up where its end is above
    /// its start.
    void curve(const std::vector<Point>& points, std::string_view style);
    void circle(Point centre, double radius, std::string_view style);
    void rectangle(const Box& box, std::string_view style);
    /// Characters that mean something in XML are escaped.
    void text(Point at, std::string_view words, const TextStyle& style = {});
    /// A tooltip for the shapes up to `end_group`.
    void begin_group(std::string_view title);
    void end_group() { body_ += "</g>\n"; }

    std::string finish() const { return body_ + "</svg>\n"; }

  private:
    std::string body_;
};

/// A text between tags, or in quotes, of XML and HTML.
std::string escaped(std::string_view text);

/// About how wide words are set, in pixels.
double text_width(std::string_view words, double size);

/// A range of numbers along a line of pixels.
struct Scale {
    double low = 0, high = 1;  // numbers
    double from = 0, to = 1;  // pixels
    bool logarithmic = false;

    double at(double value) const;
    /// Round numbers inside the range: 1, 2 and 5 times powers of ten where there is room, else
    /// powers of ten, on a logarithmic scale; else about `count` even steps.
    std::vector<double> ticks(int count = 6) const;
};

/// `0.1`, `20`, `1,000`.
std::string tick_text(double value);

}  // namespace fovea::tool
