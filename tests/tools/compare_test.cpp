// `fovea compare`: both forms agree, and what is written adds up.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "codegen/graph/expand_composites.h"
#include "codegen/kernel/builder.h"
#include "dsl/fovea.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"
#include "tools/fovea/compare/compare_forms.h"
#include "tools/fovea/compare/compare_report.h"
#include "tools/fovea/compare/count_bytes.h"
#include "tools/fovea/compare/longest_sum.h"
#include "tools/fovea/programs.h"

using fovea::test::run_fovea;
using namespace fovea::tool;
using fovea::CompiledModel;
using Json = nlohmann::json;

namespace {

const std::string kScores = FOVEA_SOURCE_DIR "/models/lessons/scores.cpp";

void check_form(const Json& row) {
    CAPTURE(row.dump());
    CHECK(row["max_error"]["values"] < 1e-5);
    CHECK(row["max_error"]["gradients"] < 1e-5);
    for (const char* form : {"off", "on"}) {
        CHECK(row[form]["ms"] > 0);
        CHECK(row[form]["peak_bytes"] > 0);
        CHECK(row[form]["kernels"] > 0);
    }
    CHECK(row["on"]["kernels"] < row["off"]["kernels"]);
    CHECK(row["on"]["bytes"] < row["off"]["bytes"]);
}

/// The form that `fovea compare` says a build with these sizes static ships, of soft-capped scores.
std::string chosen_at(std::int64_t length) {
    const LoadedModel model = load_model(kScores + ":alibi_soft_cap", {});
    const CompiledModel compiled =
        compile(model, {runner_program(model, true, false, {true, fovea::AttentionForm::fused})});
    return chosen_form(compiled, {{"batch", 4}, {"len", length}});
}

/// What `fovea compare` with these arguments writes as JSON.
Json compare(std::vector<std::string> arguments, const TemporaryFolder& folder) {
    const std::string json = folder.path() / "compare.json";
    arguments.insert(arguments.begin(), "compare");
    arguments.insert(arguments.end(), {"--json", json, "--threads", "1"});
    auto result = run_fovea(arguments);
    CAPTURE(result.output);
    REQUIRE(result.status == 0);
    return Json::parse(fovea::test::read_text(json));
}

CompareRow row_at(std::int64_t size, double off, double on) {
    CompareRow row;
    row.dims["len"] = size;
    row.off.ms = off;
    row.on.ms = on;
    for (FormCost* cost : {&row.off, &row.on}) cost->bytes = cost->peak_bytes = 1e6 * cost->ms;
    return row;
}

}  // namespace

TEST_CASE("a user's scores are compared over a sweep, with dropout") {
    if (!fovea::test::has_turn(0, 2)) return;
    TemporaryFolder folder;
    const std::string svg = folder.path() / "compare.svg";
    const Json rows = compare({kScores + ":alibi_soft_cap", "--set", "dropout=0.2", "--size",
                               "batch=2", "--sweep", "len=17,5", "--svg", svg},
                              folder);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0]["model"] == "alibi_soft_cap");
    CHECK(rows[0]["dims"] == Json{{"batch", 2}, {"len", 5}});
    CHECK(rows[1]["dims"]["len"] == 17);
    for (const Json& row : rows) {
        check_form(row);
        CHECK((row["chosen"] == "on" || row["chosen"] == "off"));
    }
    CHECK(rows[0]["crossover"] == rows[1]["crossover"]);
    const std::string picture = fovea::test::read_text(svg);
    CHECK(picture.find("alibi_soft_cap: fusion off and on") != std::string::npos);
    CHECK(picture.find("gradient_train") != std::string::npos);
    CHECK(picture.ends_with("</svg>\n"));
}

TEST_CASE("a built-in model is compared at one size") {
    if (!fovea::test::has_turn(1, 2)) return;
    TemporaryFolder folder;
    const std::string svg = folder.path() / "compare.svg";
    const Json rows = compare({"transformer_encoder", "--set", "hidden=24", "--set", "ffn=40",
                               "--set", "heads=3", "--size", "batch=3,src_len=7", "--svg", svg},
                              folder);
    REQUIRE(rows.size() == 1);
    check_form(rows[0]);
    CHECK(rows[0]["dims"] == Json{{"batch", 3}, {"src_len", 7}, {"src_vocab", 200}});
    CHECK(rows[0]["crossover"].is_null());
    CHECK(fovea::test::read_text(svg).find("fusion off") != std::string::npos);
}

TEST_CASE("the chosen form follows the sizes") {
    CHECK(chosen_at(32) == "off");
    CHECK(chosen_at(512) == "on");
    const LoadedModel block = load_model(FOVEA_SOURCE_DIR "/models/lessons/block.cpp:block", {});
    const CompiledModel compiled =
        compile(block, {runner_program(block, true, false, {true, fovea::AttentionForm::fused})});
    const std::string small = chosen_form(compiled, {{"batch", 4}, {"len", 16}});
    CHECK((small == "on" || small == "mixed"));  // other ops are fused whatever the sizes
    CHECK(chosen_form(compiled, {{"batch", 4}, {"len", 2048}}) == "on");
}

TEST_CASE("fusion pays from where it stays the faster") {
    std::vector<CompareRow> rows = {row_at(8, 2, 1), row_at(16, 2, 3), row_at(32, 5, 4),
                                    row_at(64, 9, 4)};
    CHECK(crossover(rows, "len") == 32);
    rows.push_back(row_at(128, 4, 9));
    CHECK(!crossover(rows, "len"));
    CHECK(crossover({row_at(8, 2, 1)}, "len") == 8);
}

TEST_CASE("what is chosen is said beside what is measured") {
    Comparison comparison;
    comparison.swept = "len";
    comparison.rows = {row_at(16, 2, 1), row_at(64, 6, 4), row_at(256, 9, 4)};
    comparison.rows[0].chosen = comparison.rows[1].chosen = "off";
    comparison.rows[2].chosen = "on";
    comparison.crossover = crossover(comparison.rows, "len");
    CHECK(comparison.verdict() ==
          "measured: fusion is faster from len=16 on\n"
          "chosen, by len: off at 16, 64; on at 256; at 16, 64 the other form was faster, 2.00 "
          "times at most\n");
    for (CompareRow& row : comparison.rows) row.chosen = "on";
    CHECK(comparison.verdict() ==
          "measured: fusion is faster from len=16 on\n"
          "chosen, by len: on at 16, 64, 256; that is the faster form wherever it is one of the "
          "two\n");
    const std::string table = compare_table(comparison);
    CHECK(table.find("MB moved, counted") != std::string::npos);
    CHECK(table.ends_with(comparison.verdict()));
    const std::string chart = compare_chart(comparison);
    CHECK(chart.find("bytes moved (counted), MB") != std::string::npos);
    CHECK(chart.find("2.2 times faster at 256") != std::string::npos);
    CHECK(chart.find(" less") == std::string::npos);
}

TEST_CASE("bytes moved count the rows of a table that are looked up, and sums twice") {
    using namespace fovea;
    kernel::Builder it("lookup");
    const kernel::AxisId row = it.axis("row", "n"), column = it.axis("column", 8);
    const int table = it.input("table", {100, 8}), ids = it.input("ids", {"n"}, DType::i32);
    const int y = it.output("y", {"n", 8}), total = it.output("total", {8});
    it.each(row, [&] {
        const kernel::Id id = it.load(it.at(ids, {row}));
        const kernel::Id value = it.load(it.at_row(table, id, {column}));
        it.store(it.at(y, {row, column}), value);
        it.accumulate(it.at(total, {column}), value);
    });
    plan::Model model;
    model.kernels.push_back(it.finish());
    plan::Program program;
    program.steps.push_back({.kernel = 0, .name = "lookup", .arguments = {0, 1, 2, 3}});
    const double bytes = 5 * 4 + 5 * 8 * 4 + 5 * 8 * 4 + 2 * 8 * 4;
    CHECK(bytes_moved(model, program, {{"n", 5}}) == bytes);
    const double all_rows = 500 * 4 + 100 * 8 * 4 + 500 * 8 * 4 + 2 * 8 * 4;
    CHECK(bytes_moved(model, program, {{"n", 500}}) == all_rows);
}

TEST_CASE("what two orders of a sum may differ by grows with its terms") {
    CHECK(fusion_tolerance(1, fovea::f32) == 1e-5);
    CHECK(fusion_tolerance(1024, fovea::f32) == 1e-5);
    CHECK(fusion_tolerance(4096, fovea::f32) == doctest::Approx(2e-5));
    CHECK(fusion_tolerance(1, fovea::f16) == doctest::Approx(1e-5 * (1 << 13)));
    CHECK(fusion_tolerance(1, fovea::bf16) == doctest::Approx(1e-5 * (1 << 16)));
    fovea::Graph graph;
    fovea::Scope s{&graph};
    fovea::Tensor x = s.input("x", {"rows", 8}), ids = s.input("ids", {"rows"}, fovea::i32);
    s.output("copied", x * 2.0);
    const SampleDims dims = {{"rows", 100}};
    CHECK(longest_sum(graph, dims) == 1);
    s.output("mean", fovea::mean(x, 1));
    CHECK(longest_sum(fovea::expand_composites(graph), dims) == 8);
    s.output("product", fovea::einsum("r i, r j -> i j", x, x));
    CHECK(longest_sum(fovea::expand_composites(graph), dims) == 100);
    s.output("table", fovea::scatter_add(x, ids, 5));
    CHECK(longest_sum(fovea::expand_composites(graph), {{"rows", 300}}) == 300);
}

TEST_CASE("models with values of 16 bits are compared, too") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "halves.cpp").string();
    std::ofstream(file) << R"(#include <fovea.h>
using namespace fovea;
constexpr void halves(Scope s) {
    Tensor x = s.input("x", {"batch", 3, 24}, f16);
    Tensor y = layer_norm(s / "norm", linear(s / "dense", cast(x, f32), 24));
    s.output("y", cast(y, bf16));
    s.output("places", argmax(y, -1));
}
)";
    const Json rows = compare({file + ":halves", "--size", "batch=5"}, folder);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["max_error"]["values"] < 0.66);
    const Json inside = compare({"add_norm", "--set", "dtype=bf16", "--size", "batch=5"}, folder);
    CHECK(inside[0]["on"]["kernels"] < inside[0]["off"]["kernels"]);
    // Those of weights of 8 bits, too, which have no gradients.
    const Json stored = compare({"position_wise_ffn", "--set", "input=40", "--set", "ffn=48",
                                 "--set", "weights=int8", "--size", "batch=5"},
                                folder);
    CHECK(stored[0]["max_error"]["values"] < 1e-4);
    CHECK(stored[0]["max_error"]["gradients"] == 0);
}

TEST_CASE("compare says what it does not take") {
    auto check = [](std::vector<std::string> arguments, const std::string& text) {
        arguments.insert(arguments.begin(), {"compare", "transformer_encoder", "--set", "hidden=24",
                                             "--set", "heads=3", "--set", "ffn=40"});
        auto result = run_fovea(arguments);
        CHECK(result.output == "fovea: " + text + "\n");
        CHECK(result.status == 2);
    };
    check({"--sweep", "src_len"},
          "--sweep takes DIM=N,N,… with sizes from 1 to 16777216, not 'src_len'");
    check({"--sweep", "src_len=8,x"},
          "--sweep takes DIM=N,N,… with sizes from 1 to 16777216, not 'src_len=8,x'");
    check({"--sweep", "len=3"}, "unknown dim 'len'; dims: src_vocab, batch, src_len");
    check({"--size", "batch=16777217"},
          "--size takes DIM=N with sizes from 1 to 16777216, not 'batch=16777217'");
    check({"--threads", "1025"}, "--threads takes a whole number from 1 to 1024, not '1025'");
    check({"--size", "batch=0"}, "--size takes DIM=N with sizes from 1 to 16777216, not 'batch=0'");
}

TEST_CASE("sizes that this machine has no memory for are refused before anything is drawn") {
    for (const std::string sizes : {"batch=16777216,len=16777216", "batch=16777216,len=1000"}) {
        const auto result = run_fovea({"compare", "add_norm", "--size", sizes});
        CAPTURE(result.output);
        CHECK(result.status == 2);
        CHECK((result.output.find("this machine has") != std::string::npos ||
               result.output.find("63 bits") != std::string::npos));
    }
}
