// The table and the JSON of `fovea compare`.
#include "tools/fovea/compare/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fovea::tool {

namespace {

constexpr double kMega = 1e6;

nlohmann::ordered_json cost_json(const FormCost& cost) {
    return {{"ms", cost.ms},
            {"best_ms", cost.best_ms},
            {"bytes", cost.bytes},
            {"peak_bytes", cost.peak_bytes},
            {"kernels", cost.kernels}};
}

/// A number JSON can hold: errors that are infinite stand as 1e300.
double finite_number(double error) { return std::min(error, 1e300); }

std::string pair_text(double off, double on) { return fmt::format("{:>9.4g} {:>9.4g}", off, on); }

}  // namespace

std::string Comparison::fixed_dims() const {
    std::vector<std::string> parts;
    for (const auto& [name, size] : rows.front().dims)
        if (name != swept) parts.push_back(fmt::format("{}={}", name, size));
    return fmt::format("{}", fmt::join(parts, " "));
}

std::string Comparison::verdict() const {
    if (swept.empty()) return "";
    std::map<std::string, std::vector<std::int64_t>> sizes;  // by what is chosen
    std::vector<std::int64_t> slower;                        // where the other form is faster
    double worst = 1;
    for (const CompareRow& row : rows) {
        sizes[row.chosen].push_back(row.dims.at(swept));
        const double ratio = row.chosen == "on"    ? row.on.ms / row.off.ms
                             : row.chosen == "off" ? row.off.ms / row.on.ms
                                                   : 1;  // is neither of the two forms
        if (ratio > 1) slower.push_back(row.dims.at(swept));
        worst = std::max(worst, ratio);
    }
    std::vector<std::string> parts;
    for (const auto& [form, at] : sizes)
        parts.push_back(fmt::format("{} at {}", form, fmt::join(at, ", ")));
    std::string text =
        crossover ? fmt::format("measured: fusion is faster from {}={} on\n", swept, *crossover)
                  : fmt::format("measured: fusion is not faster at the largest {}\n", swept);
    text += fmt::format("chosen, by {}: {}", swept, fmt::join(parts, "; "));
    if (slower.empty()) return text + "; that is the faster form wherever it is one of the two\n";
    return text + fmt::format("; at {} the other form was faster, {:.2f} times at most\n",
                              fmt::join(slower, ", "), worst);
}

std::string compare_table(const Comparison& comparison) {
    std::string text = fmt::format("{}, program {}, {} threads, {}\n\n", comparison.model,
                                   comparison.program, comparison.threads, comparison.fixed_dims());
    text += fmt::format("{:>10} {:>19} {:>11} {:>19} {:>19} {:>9} {:>17}\n", "", "ms",
                        "times faster", "MB moved, counted", "peak MB", "kernels", "error");
    text += fmt::format(
        "{:>10} {:>9} {:>9} {:>6} {:>5} {:>9} {:>9} {:>9} {:>9} {:>4} {:>4} {:>7} {:>9}  {}\n",
        comparison.swept, "off", "on", "median", "best", "off", "on", "off", "on", "off", "on",
        "values", "gradients", "chosen");
    for (const CompareRow& row : comparison.rows) {
        const std::string size =
            comparison.swept.empty() ? "" : std::to_string(row.dims.at(comparison.swept));
        text += fmt::format("{:>10} {} {:>6.2f} {:>5.2f} {} {} {:>4} {:>4} {:>7.1e} {:>9.1e}  {}\n",
                            size, pair_text(row.off.ms, row.on.ms), row.off.ms / row.on.ms,
                            row.off.best_ms / row.on.best_ms,
                            pair_text(row.off.bytes / kMega, row.on.bytes / kMega),
                            pair_text(row.off.peak_bytes / kMega, row.on.peak_bytes / kMega),
                            row.off.kernels, row.on.kernels, row.value_error, row.gradient_error,
                            row.chosen);
    }
    text +=
        "\nms and the error are measured, peak MB is what is allocated; MB moved and kernels "
        "are counted\nfrom the plan. chosen: the form that a build with these sizes static "
        "takes, by an estimate.\n";
    return text + comparison.verdict();
}

nlohmann::ordered_json compare_json(const Comparison& comparison) {
    using Ordered = nlohmann::ordered_json;
    Ordered list = Ordered::array();
    for (const CompareRow& row : comparison.rows) {
        Ordered crossover = nullptr;
        if (comparison.crossover) crossover = *comparison.crossover;
        list.push_back({{"model", comparison.model},
                        {"dims", row.dims},
                        {"max_error",
                         {{"values", finite_number(row.value_error)},
                          {"gradients", finite_number(row.gradient_error)}}},
                        {"off", cost_json(row.off)},
                        {"on", cost_json(row.on)},
                        {"crossover", crossover},
                        {"chosen", row.chosen}});
    }
    return list;
}

}  // namespace fovea::tool
