// The page of `fovea report`: what is on it, and that it is whole.
#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <vector>

#include "tests/tools/run_fovea.h"
#include "tools/fovea/bench/count_flops.h"
#include "tools/fovea/chart/svg.h"
#include "tools/fovea/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/report/memory_chart.h"

using namespace fovea::tool;

namespace {

/// Tags that are open at the end, or closed where another one is open.
std::string wrong_tags(const std::string& page) {
    static const std::set<std::string> kAlone = {"meta", "link", "!DOCTYPE"};
    static const std::regex tag(R"(<(/?)([!A-Za-z0-9]+)[^>]*?(/?)>)");
    std::vector<std::string> open;
    for (std::sregex_iterator at(page.begin(), page.end(), tag), end; at != end; ++at) {
        const std::string name = (*at)[2];
        if (kAlone.count(name) || (*at)[3].length()) continue;
        if (!(*at)[1].length()) open.push_back(name);
        else if (open.empty() || open.back() != name) return "</" + name + ">";
        else open.pop_back();
    }
    return open.empty() ? "" : "<" + open.back() + ">";
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        ++count;
    return count;
}

fovea::plan::Tensor buffer(const std::string& name, std::int64_t floats, int first, int last) {
    fovea::plan::Tensor tensor;
    tensor.name = name;
    tensor.shape = {floats};
    tensor.first = first;
    tensor.last = last;
    return tensor;
}

}  // namespace

TEST_CASE("a report is one page with graph, fusion, kernels and memory") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "report.html";
    const auto result = fovea::test::run_fovea({"report", "encoder_block", "--set", "hidden=16",
                                                "--set", "ffn=8", "--size", "batch=2", "--size",
                                                "len=5", "--threads", "1", "-o", file.string()});
    CAPTURE(result.output);
    REQUIRE(result.status == 0);
    const std::string page = fovea::test::read_text(file);
    CHECK(wrong_tags(page) == "");
    for (const char* part :
         {"<title>encoder_block: report</title>", "at batch=2 len=5", ">Graph<",
          ">Fused and unfused<", ">Fusion<", ">Kernels<", ">Memory over time<", ">attention<",
          "prefers-color-scheme: dark", "const float* ln_weight", "not fused: "})
        CHECK_MESSAGE(page.find(part) != page.npos, std::string(part));
    // Nothing from elsewhere, no scripts, and code is text.
    CHECK(page.find("<script") == page.npos);
    CHECK(count_of(page, "http") == count_of(page, "xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(page.find("src=") == page.npos);
    CHECK(page.find("&lt;") != page.npos);

    const LoadedModel model = load_model("encoder_block", {{"hidden", "16"}, {"ffn", "8"}});
    const auto compiled = compile(model, {runner_program(model, true, true, true)});
    CHECK(count_of(page, "<details class=\"kernel\">") == compiled.plan.programs[0].steps.size());
    std::size_t boxes = 0;
    for (const fovea::plan::Tensor& tensor : compiled.plan.programs[0].tensors)
        boxes += tensor.role == fovea::plan::Role::buffer;
    CHECK(count_of(page, ", phases ") == boxes);
}

TEST_CASE("the operations of a program's kernels are those of its graph") {
    const LoadedModel model = load_model("encoder_block", {{"hidden", "16"}, {"ffn", "8"}});
    const auto compiled = compile(model, {runner_program(model, true, true, true)});
    const auto& program = compiled.programs[0];
    const SampleDims dims = {{"batch", 3}, {"len", 7}};
    double of_kernels = 0;
    for (const fovea::fuse::Group& group : program.fused.groups)
        of_kernels += kernel_flops(program.optimized, group, dims);
    const double of_products = product_flops(program.graph, true, dims);
    const double of_rows =
        row_flops(program.optimized, false, dims) + row_flops(program.optimized, true, dims);
    CHECK(of_kernels >= of_products);
    CHECK(of_kernels <= of_products + of_rows);
}

TEST_CASE("buffers are drawn where they lie, for as long as they live") {
    fovea::plan::Program program;
    CHECK(memory_chart(program, {}) == "");
    program.tensors = {buffer("a < b", 1000, 0, 1), buffer("c", 500, 1, 2), buffer("d", 500, 3, 3)};
    const std::string chart = memory_chart(program, {});
    CHECK(wrong_tags(chart) == "");
    for (const char* part : {"<title>a &lt; b: 4 kB, phases 0 to 1</title>",
                             "<title>c: 2 kB, phases 1 to 2</title>", ">kB<", ">6<"})
        CHECK_MESSAGE(chart.find(part) != chart.npos, std::string(part));
}
