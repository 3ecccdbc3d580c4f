// Panels laid out in rows; each is a grid of cells with tokens to its left and above it.
#include "attention_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "../files/printable.h"
#include "../text/utf8.h"

namespace fovea::runtime {

namespace {

constexpr double kCell = 16, kFont = 11, kGap = 28, kMargin = 24, kTitle = 22, kLetter = 6.6;
constexpr double kLegend = 120, kHeading = 16;

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : printable(text)) {
        if (c == '<') result += "&lt;";
        else if (c == '>') result += "&gt;";
        else if (c == '&') result += "&amp;";
        else if (c == '"') result += "&quot;";
        else result += c;
    }
    return result;
}

/// White at 0, dark blue at 1, even steps of lightness between.
std::string color(double weight) {
    const double w = std::clamp(weight, 0.0, 1.0);
    char text[16];
    std::snprintf(text, sizeof text, "#%02x%02x%02x", int(std::lround(255 - 247 * w)),
                  int(std::lround(255 - 207 * w)), int(std::lround(255 - 148 * w)));
    return text;
}

double width_of(const std::vector<std::string>& tokens) {
    std::size_t longest = 0;
    for (const std::string& token : tokens) longest = std::max(longest, count_characters(token));
    return kLetter * static_cast<double>(longest) + 8;
}

/// The tokens of a sentence, without the one that ends it.
std::string sentence(const std::vector<std::string>& tokens) {
    std::string text;
    for (const std::string& token : tokens)
        if (token != "<eos>") text += (text.empty() ? "" : " ") + token;
    return text;
}

class Page {
  public:
    Page(const std::vector<AttentionMap>& maps, const MapTokens& tokens)
        : maps_(maps), tokens_(tokens) {}

    std::string text() {
        double y = kMargin;
        const std::string title = tokens_.produced.empty() ? "attention weights"
                                                           : sentence(tokens_.source) + " → " +
                                                                 sentence(tokens_.produced);
        label(kMargin, y + kHeading / 2, title,
              " font-weight=\"bold\" font-size=\"" + number(kHeading) + "\"");
        reach(kMargin + kLetter * kHeading / kFont * static_cast<double>(count_characters(title)));
        y += 2 * kHeading;
        legend(y);
        y += 2 * kTitle;
        for (const AttentionMap& map : maps_) y = row(map, y) + kGap;
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width_) +
               "\" height=\"" + number(y) + "\" viewBox=\"0 0 " + number(width_) + " " + number(y) +
               "\" font-family=\"sans-serif\" font-size=\"" + number(kFont) + "\">\n" + "<title>" +
               escaped(title) +
               "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + body_ +
               "</svg>\n";
    }

  private:
    const std::vector<std::string>& queries(const AttentionMap& map) const {
        return map.query_axis == MapAxis::source ? tokens_.source : tokens_.produced;
    }
    const std::vector<std::string>& keys(const AttentionMap& map) const {
        return map.key_axis == MapAxis::source ? tokens_.source : tokens_.read;
    }

    void label(double x, double y, const std::string& text, const std::string& more = "") {
        body_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + more + ">" +
                 escaped(text) + "</text>\n";
    }
    void cell(double x, double y, double width, double weight, const std::string& title) {
        body_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) +
                 "\" height=\"" + number(kCell) + "\" fill=\"" + color(weight) + "\"";
        body_ += title.empty() ? "/>\n" : "><title>" + escaped(title) + "</title></rect>\n";
    }
    void reach(double x) { width_ = std::max(width_, x + kMargin); }

    void legend(double y) {
        constexpr int kSteps = 30;
        label(kMargin, y + kFont, "weight 0");
        const double start = kMargin + 60;
        for (int i = 0; i < kSteps; ++i)
            cell(start + kLegend * i / kSteps, y, kLegend / kSteps + 0.5, (i + 0.5) / kSteps, "");
        label(start + kLegend + 8, y + kFont, "1; queries run down, keys to the right");
        reach(start + kLegend + 260);
    }

    /// The panels of a module; returns the y below them.
    double row(const AttentionMap& map, double y) {
        const double left = width_of(queries(map)), above = width_of(keys(map));
        label(kMargin, y + kFont, map.name.substr(0, map.name.rfind('.')), " font-weight=\"bold\"");
        y += kTitle + above;
        double x = kMargin;
        for (std::int64_t head = 0; head < map.heads; ++head) {
            panel(map, head, x + left, y);
            x += left + kCell * static_cast<double>(map.keys) + kGap;
        }
        reach(x - kGap);
        return y + kCell * static_cast<double>(map.queries) + kTitle;
    }

    void panel(const AttentionMap& map, std::int64_t head, double x, double y) {
        const auto count = static_cast<std::size_t>(map.keys);
        for (std::size_t k = 0; k < count; ++k) {
            const double center = x + kCell * (static_cast<double>(k) + 0.5) + kFont / 3;
            label(center, y - 6, keys(map)[k],
                  " transform=\"rotate(-90 " + number(center) + " " + number(y - 6) + ")\"");
        }
        for (std::size_t q = 0; q < static_cast<std::size_t>(map.queries); ++q) {
            const double top = y + kCell * static_cast<double>(q);
            label(x - 4, top + kCell - 4, queries(map)[q], " text-anchor=\"end\"");
            const std::size_t row = static_cast<std::size_t>(head * map.queries) + q;
            for (std::size_t k = 0; k < count; ++k) {
                const double weight = static_cast<double>(map.weights[row * count + k]);
                cell(x + kCell * static_cast<double>(k), top, kCell, weight,
                     queries(map)[q] + " → " + keys(map)[k] + ": " + number(weight));
            }
        }
        body_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
                 number(kCell * static_cast<double>(map.keys)) + "\" height=\"" +
                 number(kCell * static_cast<double>(map.queries)) +
                 "\" fill=\"none\" stroke=\"#888\"/>\n";
        label(x, y + kCell * static_cast<double>(map.queries) + kFont + 3,
              "head " + std::to_string(head + 1));
    }

    const std::vector<AttentionMap>& maps_;
    const MapTokens& tokens_;
    std::string body_;
    double width_ = 0;
};

}  // namespace

std::string attention_svg(const std::vector<AttentionMap>& maps, const MapTokens& tokens) {
    return Page(maps, tokens).text();
}

}  // namespace fovea::runtime
