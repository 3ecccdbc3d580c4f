#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/fovea/chart/svg.h"
#include "tools/fovea/report/training_log.h"

namespace fovea::tool {

namespace {

constexpr double kTrainingWidth = 760, kLossHeight = 300, kSmallHeight = 150, kBetween = 26;
constexpr double kLeft = 64, kRight = kTrainingWidth - 16, kAxisHeight = 14;
constexpr std::size_t kMostDots = 120;  // of a line, with what they say
constexpr std::string_view kLineColours[] = {"#0072B2", "#D55E00", "#009E73",
                                             "#CC79A7", "#8a6d00", "#444444"};

using Measure = std::optional<double> LoggedEpoch::*;

/// One measure of all trainings.
struct LogPanel {
    const char* title;
    Measure value, held_out;  // the second may be null
    double height;
    bool logarithmic, only_varying;  // the second: not drawn where it is the same all along
};
constexpr LogPanel kLogPanels[] = {
    {"loss per target token, nats", &LoggedEpoch::loss, &LoggedEpoch::validation_loss, kLossHeight,
     false, false},
    {"norm of the gradient, before clipping", &LoggedEpoch::grad_norm, nullptr, kSmallHeight, true,
     false},
    {"learning rate", &LoggedEpoch::learning_rate, nullptr, kSmallHeight, false, true}};

class TrainingChart {
  public:
    explicit TrainingChart(const std::vector<LoggedTraining>& trainings) : trainings_(trainings) {
        for (const LogPanel& panel : kLogPanels)
            if (panel.only_varying ? varies(panel.value) : has(panel.value))
                panels_.push_back(&panel);
        x_ = {1e30, -1e30, kLeft, kRight};
        for (const LoggedTraining& training : trainings_)
            for (const LoggedEpoch& epoch : training.epochs) {
                x_.low = std::min(x_.low, epoch.epoch);
                x_.high = std::max(x_.high, epoch.epoch);
            }
        if (x_.low == x_.high) x_.low -= 1, x_.high += 1;
    }

    std::string draw() {
        const std::vector<Name> names = place_names();
        double y = names.back().at.y + 8, height = y + kAxisHeight;
        for (const LogPanel* panel : panels_) height += panel->height + kBetween;
        Svg svg(kTrainingWidth, height);
        for (const Name& name : names) draw_name(svg, name);
        for (const LogPanel* panel : panels_) {
            draw_panel(svg, *panel, {kLeft, y + kBetween - 8, kRight, y + panel->height});
            y += panel->height + kBetween;
        }
        svg.text({(kLeft + kRight) / 2, height - 8}, "epoch",
                 {.size = 12, .anchor = Anchor::middle});
        return svg.finish();
    }

  private:
    template <class Use>
    void each_value(Measure value, const Use& use) const {
        for (const LoggedTraining& training : trainings_)
            for (const LoggedEpoch& epoch : training.epochs)
                if (epoch.*value) use(*(epoch.*value));
    }
    bool has(Measure value) const {
        bool found = false;
        each_value(value, [&](double) { found = true; });
        return found;
    }

    bool varies(Measure value) const {
        double least = 1e300, most = -1e300;
        each_value(value, [&](double number) {
            least = std::min(least, number);
            most = std::max(most, number);
        });
        return least < most;
    }
    /// An entry of the legend.
    struct Name {
        Point at;
        std::string words;
        std::string_view colour;
        bool broken;
    };
    std::vector<Name> place_names() const {
        std::vector<Name> names;
        double x = kLeft, y = 16;
        const auto add = [&](const std::string& words, std::string_view colour, bool broken) {
            const double width = 48 + text_width(words, 12);
            if (x + width > kRight && x > kLeft) x = kLeft, y += 16;
            names.push_back({{x, y}, words, colour, broken});
            x += width;
        };
        for (std::size_t i = 0; i < trainings_.size(); ++i)
            add(trainings_[i].name, colour_of(i), false);
        if (has(&LoggedEpoch::validation_loss)) add("held out", "#444", true);
        return names;
    }
    static void draw_name(Svg& svg, const Name& name) {
        svg.line({name.at.x, name.at.y - 4}, {name.at.x + 24, name.at.y - 4},
                 style_of(name.colour, name.broken));
        svg.text({name.at.x + 30, name.at.y}, name.words, {.size = 12});
    }
    static std::string_view colour_of(std::size_t training) {
        return kLineColours[training % std::size(kLineColours)];
    }
    static std::string style_of(std::string_view colour, bool broken) {
        return fmt::format(R"(fill="none" stroke="{}" stroke-width="2"{})", colour,
                           broken ? R"( stroke-dasharray="6 4")" : "");
    }

    Scale scale_of(const LogPanel& panel, const Box& box) const {
        Scale scale{1e300, -1e300, box.bottom, box.top, panel.logarithmic};
        for (const Measure value : {panel.value, panel.held_out}) {
            if (!value) continue;
            each_value(value, [&](double number) {
                scale.low = std::min(scale.low, number);
                scale.high = std::max(scale.high, number);
            });
        }
        scale.logarithmic = panel.logarithmic && scale.low > 0;
        if (scale.low == scale.high) {
            const double apart = scale.low == 0 ? 1 : std::abs(scale.low) / 2;
            scale.low -= apart;
            scale.high += apart;
        }
        if (scale.logarithmic) {
            scale.low /= 1.1;
            scale.high *= 1.1;
        } else {
            const double room = 0.05 * (scale.high - scale.low);
            // A rate or a loss near 0 is seen beside 0.
            scale.low = scale.low > 0 && scale.low < 0.4 * scale.high ? 0 : scale.low - room;
            scale.high += room;
        }
        return scale;
    }

    void draw_panel(Svg& svg, const LogPanel& panel, const Box& box) const {
        const Scale y = scale_of(panel, box);
        for (const double value : y.ticks(box.bottom - box.top > 200 ? 6 : 3)) {
            svg.line({box.left, y.at(value)}, {box.right, y.at(value)}, R"(stroke="#e4e4e4")");
            svg.text({box.left - 6, y.at(value) + 4}, tick_text(value),
                     {.size = 11, .anchor = Anchor::end});
        }
        for (const double epoch : x_.ticks(10)) {
            if (epoch != std::floor(epoch)) continue;
            svg.text({x_.at(epoch), box.bottom + 15}, tick_text(epoch),
                     {.size = 11, .anchor = Anchor::middle});
        }
        svg.text({box.left, box.top - 6}, panel.title, {.size = 12, .bold = true});
        for (std::size_t i = 0; i < trainings_.size(); ++i) {
            draw_line(svg, trainings_[i], panel.value, y, colour_of(i), false);
            if (panel.held_out)
                draw_line(svg, trainings_[i], panel.held_out, y, colour_of(i), true);
        }
        svg.rectangle(box, R"(fill="none" stroke="#999")");
    }
    /// Broken where a number is missing.
    void draw_line(Svg& svg, const LoggedTraining& training, Measure value, const Scale& y,
                   std::string_view colour, bool broken) const {
        std::vector<Point> points;
        const auto finish = [&] {
            if (points.size() > 1) svg.polyline(points, style_of(colour, broken));
            points.clear();
        };
        const bool has_dots = training.epochs.size() <= kMostDots;
        for (const LoggedEpoch& epoch : training.epochs) {
            if (!(epoch.*value)) {
                finish();
                continue;
            }
            points.push_back({x_.at(epoch.epoch), y.at(*(epoch.*value))});
            if (!has_dots) continue;
            svg.begin_group(fmt::format("{}, epoch {:.6g}: {:.6g}{}", training.name, epoch.epoch,
                                        *(epoch.*value), broken ? ", held out" : ""));
            svg.circle(points.back(), 2.5, fmt::format(R"(fill="{}")", colour));
            svg.end_group();
        }
        finish();
    }

    const std::vector<LoggedTraining>& trainings_;
    std::vector<const LogPanel*> panels_;
    Scale x_;
};

}  // namespace

std::string training_chart(const std::vector<LoggedTraining>& trainings) {
    return TrainingChart(trainings).draw();
}

}  // namespace fovea::tool
