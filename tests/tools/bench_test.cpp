// `fovea bench`: what it writes adds up, and mistakes get one sentence.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/tools/run_fovea.h"
#include "tools/fovea/bench/count_flops.h"
#include "tools/fovea/model/load_model.h"

using fovea::test::run_fovea;
using Json = nlohmann::json;

namespace {

Json row_of(const Json& results, const std::string& name, const std::string& pass) {
    for (const Json& row : results)
        if (row["name"] == name && row["pass"] == pass) return row;
    FAIL("no row " << name << ", " << pass);
    return results;
}

/// The peak that rows of a dtype are judged by.
double peak_of(const Json& machine, const std::string& dtype) {
    const bool has_pairs = dtype == "bf16" && !machine["bf16_peak_gflops"].is_null();
    return machine[has_pairs ? "bf16_peak_gflops" : "peak_gflops"];
}

void check_row(const Json& row, const Json& machine) {
    CAPTURE(row.dump());
    const std::string dtype = row["dtype"];
    const double median = row["ms"]["median"], flops = row["flops"], fraction = row["fraction"];
    CHECK((dtype == "f32" || dtype == "bf16"));
    CHECK(row["threads"] == 1);
    CHECK(row["dims"].is_object());
    CHECK(flops > 0);
    CHECK(row["bytes"] > 0);
    CHECK(median > 0);
    CHECK(row["ms"]["p10"] <= median);
    CHECK(row["ms"]["p90"] >= median);
    CHECK(double(row["gflops"]) == doctest::Approx(flops / median / 1e6));
    CHECK(fraction == doctest::Approx(double(row["gflops"]) / double(row["peak_gflops"])));
    CHECK(double(row["gflops"]) < 1.2 * peak_of(machine, dtype));
    CHECK(double(row["peak_gflops"]) <= peak_of(machine, dtype));
}

void check_machine(const Json& machine) {
    CHECK(machine["threads"] == 1);
    CHECK(machine["peak_gflops"] > 1);
    CHECK(machine["read_gb_s"] > 0.1);
    CHECK(machine["round_trip_ns"] == 0);  // there is no other thread
    CHECK(machine["quiet"] > 0);
    CHECK(machine["quiet"] <= 1);
    CHECK((machine["bf16_peak_gflops"].is_null() || machine["bf16_peak_gflops"] > 1));
}

/// What is counted in rows of a suite.
void check_counts(const std::string& suite, const Json& results) {
    if (suite == "contraction")
        CHECK(row_of(results, "24x16x40", "forward")["flops"] == 2 * 24 * 16 * 40);
    if (suite == "rowwise")
        CHECK(row_of(results, "softmax", "forward")["bytes"] == 2 * 4 * 2 * 5 * 24);
    if (suite == "models") CHECK(row_of(results, "training step, tiny", "step")["times_floor"] > 1);
    if (suite != "attention") return;
    const double full = row_of(results, "length 24", "forward")["flops"];
    CHECK(full == 4.0 * 2 * 8 * 24 * 24 * 64);
    CHECK(row_of(results, "causal", "forward")["flops"] == full * 25 / 48);
    CHECK(row_of(results, "padded", "backward")["flops"] == 2.5 * full / 2);
    CHECK(row_of(results, "padded", "backward")["method"] == "observed kernels");
}

/// `chosen` are the suites of a call, by `--suite` where it is one.
void check_bench(const std::vector<std::string>& chosen) {
    fovea::tool::TemporaryFolder folder;
    const std::string json = folder.path() / "bench.json", svg = folder.path() / "bench.svg";
    std::vector<std::string> command = {"bench",  "--quick", "--threads", "1",
                                        "--json", json,      "--svg",     svg};
    if (chosen.size() == 1) command.insert(command.end(), {"--suite", chosen[0]});
    const auto result = run_fovea(command);
    CAPTURE(result.output);
    REQUIRE(result.status == 0);
    const Json report = Json::parse(fovea::test::read_text(json));
    const Json &machine = report["machine"], &results = report["results"];
    CHECK(result.output.starts_with(machine["cpu"].get<std::string>()));
    check_machine(machine);
    CHECK(!results.empty());
    for (const Json& row : results) check_row(row, machine);
    CHECK(result.output.find("% of its peak") != std::string::npos);
    CHECK(result.output.find("times the median in half of the rows") != std::string::npos);
    for (const std::string& suite : chosen) check_counts(suite, results);
    const std::string picture = fovea::test::read_text(svg);
    CHECK(picture.starts_with("<svg"));
    CHECK(picture.ends_with("</svg>\n"));
    for (const Json& row : results)
        CHECK(picture.find(row["name"].get<std::string>()) != std::string::npos);
}

}  // namespace

TEST_CASE("bench measures every suite") {
    const std::vector<std::string> suites = {"contraction", "rowwise", "attention", "models"};
    if (fovea::test::takes_all()) return check_bench(suites);
    for (const std::string& suite : fovea::test::turns_of(suites, 2)) check_bench({suite});
}

TEST_CASE("operations that training needs are counted from the model") {
    auto model = fovea::tool::load_model(
        "transformer", {{"hidden", "512"}, {"ffn", "2048"}, {"heads", "8"}, {"layers", "6"}});
    const fovea::tool::SampleDims dims{
        {"batch", 16}, {"src_len", 64}, {"tgt_len", 64}, {"src_vocab", 8000}, {"tgt_vocab", 8000}};
    const double tokens = 16 * 64, layers = 6, square = 512 * 512, ffn = 2 * 512 * 2048;
    const double linear = 2 * tokens * (layers * (12 * square + 2 * ffn) + 512 * 8000);
    const double full = 4.0 * 16 * 8 * 64 * 64 * 64, causal = full * 65 / 128;
    const double attention = layers * (2 * full + causal);
    CHECK(fovea::tool::product_flops(model.graph, false, dims) ==
          doctest::Approx(linear + attention));
    CHECK(fovea::tool::product_flops(model.graph, true, dims) ==
          doctest::Approx(3 * linear + 3.5 * attention));
}

TEST_CASE("bench says what it does not take") {
    auto check = [](const std::vector<std::string>& arguments, const std::string& text) {
        auto result = run_fovea(arguments);
        CHECK(result.output == "fovea: " + text + "\n");
        CHECK(result.status == 2);
    };
    check({"bench", "--suite", "atention"},
          "--suite takes contraction|attention|rowwise|models, not 'atention'");
    check({"bench", "--threads", "0"}, "--threads takes a whole number from 1 to 1024, not '0'");
    check({"bench", "transformer"}, "fovea bench takes options only");
    check({"bench", "--target", "ptx-interpreter"},
          "--target takes cpu|cuda, not 'ptx-interpreter'");
}
