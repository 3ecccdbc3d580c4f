// The table and the JSON of `fovea bench`.
#include "tools/fovea/bench/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace fovea::tool {

namespace {

constexpr double kQuiet = 0.9;  // below it, others use the machine

std::string dims_text(const Work& work) {
    std::vector<std::string> parts;
    for (const auto& [name, size] : work.dims) parts.push_back(fmt::format("{}={}", name, size));
    return fmt::format("{}", fmt::join(parts, " "));
}

std::string milliseconds(double ms) {
    return ms < 10 ? fmt::format("{:.3f}", ms) : fmt::format("{:.1f}", ms);
}

std::string floor_text(const BenchRow& row) {
    if (!row.floor_ms) return "";
    return fmt::format("{} ms, times {:.2f}", milliseconds(*row.floor_ms), row.times_floor());
}

}  // namespace

std::string machine_line(const Machine& machine) {
    const std::string bf16 = machine.bf16_peak_gflops > 0
                                 ? fmt::format(", {:.0f} GFLOP/s bf16", machine.bf16_peak_gflops)
                                 : "";
    const std::string apart =
        machine.round_trip_ns > 0
            ? fmt::format(", {:.0f} ns from core to core and back", machine.round_trip_ns)
            : "";
    return fmt::format("{}, {}, {} threads: {:.0f} GFLOP/s f32{}, reads {:.1f} GB/s{}\n",
                       machine.cpu, machine.isa, machine.threads, machine.peak_gflops, bf16,
                       machine.read_gb_s, apart);
}

std::string BenchTable::lines_of(const BenchRow& row) {
    std::string text;
    if (row.work.suite != suite_) {
        suite_ = row.work.suite;
        text = fmt::format("\n{:<33} {:<8} {:>9} {:>9} {:>9} {:>8} {:>7} {:>7} {:>7}  {}\n", suite_,
                           "pass", "median ms", "p10", "p90", "GFLOP/s", "of peak", "best", "GB/s",
                           suite_ == "models" ? "floor" : "");
    }
    return text +
           fmt::format(
               "{:<33} {:<8} {:>9} {:>9} {:>9} {:>8.1f} {:>6.1f}% {:>6.1f}% {:>7.1f}  {:<24} {}\n",
               row.work.name, row.work.pass, milliseconds(row.ms.median), milliseconds(row.ms.p10),
               milliseconds(row.ms.p90), row.gflops(), 100 * row.fraction(),
               100 * row.best_fraction(), row.gb_s(), floor_text(row), dims_text(row.work));
}

std::string steadiness_line(const Machine& machine, const std::vector<BenchRow>& rows) {
    std::vector<double> spreads;
    for (const BenchRow& row : rows) spreads.push_back(row.ms.p90 / row.ms.median);
    std::sort(spreads.begin(), spreads.end());
    return fmt::format(
        "\n{}: it gave {:.0f}% of its peak ({:.0f} GFLOP/s) on average, {:.0f}% at least; p90 "
        "is {:.2f} times the median in half of the rows, {:.2f} times at most\n",
        machine.quiet < kQuiet ? "the machine was shared, `best` says more than the median"
                               : "the machine was steady",
        100 * machine.quiet, machine.peak_gflops, 100 * machine.least_share,
        spreads.empty() ? 1 : spreads[spreads.size() / 2], spreads.empty() ? 1 : spreads.back());
}

nlohmann::ordered_json bench_json(const Machine& machine, const std::vector<BenchRow>& rows) {
    using Ordered = nlohmann::ordered_json;
    Ordered results = Ordered::array();
    for (const BenchRow& row : rows) {
        const Work& work = row.work;
        Ordered result{{"suite", work.suite},
                       {"name", work.name},
                       {"pass", work.pass},
                       {"dtype", work.dtype},
                       {"threads", row.threads},
                       {"dims", work.dims},
                       {"flops", work.flops},
                       {"bytes", work.bytes},
                       {"ms",
                        {{"median", row.ms.median},
                         {"p10", row.ms.p10},
                         {"p90", row.ms.p90},
                         {"best", row.ms.best}}},
                       {"gflops", row.gflops()},
                       {"fraction", row.fraction()},
                       {"best_fraction", row.best_fraction()},
                       {"gb_s", row.gb_s()},
                       {"peak_gflops", row.peak_gflops},
                       {"runs", row.ms.runs},
                       {"method", work.method}};
        if (row.floor_ms) {
            result["floor_ms"] = *row.floor_ms;
            result["times_floor"] = row.times_floor();
        }
        results.push_back(std::move(result));
    }
    Ordered bf16 = nullptr;
    if (machine.bf16_peak_gflops > 0) bf16 = machine.bf16_peak_gflops;
    return {{"machine",
             {{"cpu", machine.cpu},
              {"isa", machine.isa},
              {"threads", machine.threads},
              {"peak_gflops", machine.peak_gflops},
              {"bf16_peak_gflops", bf16},
              {"read_gb_s", machine.read_gb_s},
              {"round_trip_ns", machine.round_trip_ns},
              {"quiet", machine.quiet}}},
            {"results", results}};
}

}  // namespace fovea::tool
