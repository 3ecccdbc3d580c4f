// Small models of the language's edges give what the reference of their source graphs gives: fused,
// unfused, and on PTX.
#include "tests/models/found_programs.h"

#include <cmath>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "tests/models/run_everywhere.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const runtime::DimValues kSizesHere = {{"n", 7},     {"batch", 2}, {"len", 5},
                                       {"q", 3},     {"k", 4},     {"t", 3},
                                       {"u", 4},     {"Heads", 3}, {"intermediate_size", 2},
                                       {"width", 5}, {"class", 3}, {"M_PI", 4}};

struct Program {
    const char* name;
    void (*model)(Scope);
    bool on_ptx = true;
};

const std::vector<Program> kPrograms = {
    {"truncated", truncated},
    {"truncated_out", truncated_out},
    {"integer_quotient", integer_quotient},
    {"compared_ids", compared_ids},
    {"divided_by_permuted_sums", divided_by_permuted_sums},
    {"square_of_a_sum", square_of_a_sum},
    {"four_symbols", four_symbols},
    {"one_mask_for_all", one_mask_for_all},
    {"lengths_of_two_ranks", lengths_of_two_ranks},
    {"letters", letters},
    {"infinite_numbers", infinite_numbers},
    {"scores_of_no_weight", scores_of_no_weight},
    {"losses_of_no_weight", losses_of_no_weight},
    {"cast_to_boolean", cast_to_boolean},
    {"whole_numbers_wrap", whole_numbers_wrap},
    {"scores_of_less_than_a_pair", scores_of_less_than_a_pair},
    {"rounded_casts", rounded_casts},
    {"masked_scores_in_bfloat16", masked_scores_in_bfloat16},
    {"rows_added_in_bfloat16", rows_added_in_bfloat16},
    {"heads_of_any_number", heads_of_any_number},
    {"rows_of_columns_apart", rows_of_columns_apart},
};

Graph graph_of(void (*model)(Scope)) {
    Graph graph;
    model(Scope{&graph});
    return graph;
}

/// Small numbers: lengths and labels from 1 to 3, floats of both signs. Row 2 of `far` begins with
/// -infinity, and so do the rows of `logits`.
Array draw(const Node& node, const DimSizes& sizes) {
    Array array;
    for (const Dim& dim : node.shape) array.shape.push_back(value_of(sizes, dim));
    const std::int64_t width = array.shape.empty() ? 1 : array.shape.back();
    for (std::int64_t i = 0; i < array.size(); ++i) {
        const double scattered = double((i * 37 + 11) % 97) / 32 - 1.5;
        double value = node.dtype == i32 ? double(1 + i * 5 % 3) : scattered;
        if (node.name == "k") value = std::fabs(value) + 0.1;
        if (node.name == "far" && i == 2 * width) value = -kInfinity;
        if (node.name == "logits" && i % width == 0) value = -kInfinity;
        array.values.push_back(value);
    }
    return array;
}

Arrays inputs_of(const Graph& graph) {
    DimSizes sizes;
    for (const auto& [name, size] : kSizesHere) sizes[Symbol(name)] = size;
    Arrays given;
    for (const Node& node : graph.nodes) {
        if (node.op == Op::input) given[std::string(node.name)] = draw(node, sizes);
        if (node.op == Op::parameter) given[graph.path(node.scope)] = draw(node, sizes);
    }
    return given;
}

Arrays run_reference(const Graph& graph, const Arrays& given) {
    Interpreter interpreter(graph);
    for (const auto& [name, size] : kSizesHere) interpreter.bind(name, size);
    for (const auto& [name, value] : given) interpreter.set(name, value);
    return interpreter.outputs();
}

bool is_like(double a, double b, double tolerance) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b || std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
}

/// Values of bfloat16 are rounded where a kernel stores them, which the reference does not.
void check_like(const Arrays& actual, const Arrays& expected, bool in_bfloat16) {
    const double tolerance = in_bfloat16 ? 0x1p-8 : 2e-5;
    for (const auto& [name, array] : expected) {
        CAPTURE(name);
        REQUIRE(actual.contains(name));
        REQUIRE(actual.at(name).shape == array.shape);
        for (std::size_t i = 0; i < array.values.size(); ++i) {
            CAPTURE(i);
            CAPTURE(array.values[i]);
            CAPTURE(actual.at(name).values[i]);
            CHECK(is_like(actual.at(name).values[i], array.values[i], tolerance));
        }
    }
}

/// The programs of a model, against the graphs that they are of.
void check_programs(const runtime::Model& model, const std::vector<ProgramRequest>& requests) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
        CAPTURE(requests[i].name);
        const Arrays given = inputs_of(requests[i].graph);
        check_like(run_generated(model, model.programs[i], given, kSizesHere),
                   run_reference(requests[i].graph, given),
                   requests[i].name == "masked_scores_in_bfloat16");
    }
}

std::vector<ProgramRequest> requests_of(const std::vector<Program>& programs, bool fusion) {
    std::vector<ProgramRequest> requests;
    for (const Program& program : programs)
        requests.push_back({.name = program.name,
                            .graph = graph_of(program.model),
                            .gradients = Gradients::none,
                            .fusion = fusion});
    return requests;
}

void check_on_cpu(const std::string& name, const std::vector<Program>& programs) {
    for (const bool fusion : {true, false}) {
        CAPTURE(fusion);
        const std::vector<ProgramRequest> requests = requests_of(programs, fusion);
        const CompiledModel compiled = compile_model(name, "", {}, requests);
        check_programs(
            tool::load_generated(compiled.plan, tool::isa_of_this_machine(), tool::Keep::nowhere),
            requests);
    }
}

}  // namespace

TEST_CASE("edges of the language: what the CPU gives is what the reference gives") {
    check_on_cpu("edges", kPrograms);
}

TEST_CASE("edges of the language: what PTX gives is what the reference gives") {
    if (emit::why_not_ptx()) return;
    const std::vector<ProgramRequest> requests = requests_of(kPrograms, true);
    const auto model = tool::model_on({"ptx-interpreter", "sm_80"},
                                      compile_model("edges", "", {}, requests).plan, f32);
    check_programs(*model, requests);
}

TEST_CASE("names that C++ or the runtime has taken") {
    check_on_cpu("taken", {{"taken_names", taken_names}});
}

TEST_CASE("models named as functions, namespaces and headers are") {
    const std::vector<ProgramRequest> requests =
        requests_of({{"truncated", truncated}}, /*fusion=*/true);
    std::vector<CompiledModel> compiled;
    for (const char* name : {"select", "main", "std", "fovea", "index", "exp", "halves", "runtime",
                             "math", "class", "errno", "M_PI", "__2"})
        compiled.push_back(compile_model(name, "", {}, requests));
    std::vector<const plan::Model*> plans;
    for (const CompiledModel& model : compiled) plans.push_back(&model.plan);
    const auto loaded =
        tool::load_together(plans, tool::isa_of_this_machine(), tool::Optimized::little);
    for (std::size_t i = 0; i < loaded.size(); ++i) {
        CAPTURE(plans[i]->name);
        check_programs(*loaded[i], requests);
    }
}

TEST_CASE("a product of inputs alone, in bfloat16") {
    Graph graph;
    Scope s{&graph};
    s.output("y", einsum("a b, c b -> c a", s.input("x", {4, 3}), s.input("w", {2, 3})));
    const CompiledModel compiled = compile_model(
        "product", "", {},
        {{.name = "product", .graph = graph, .gradients = Gradients::none, .dtype = DType::bf16}});
    const runtime::Model& model =
        tool::load_generated(compiled.plan, tool::isa_of_this_machine(), tool::Keep::nowhere);
    const Arrays given = inputs_of(graph);
    check_like(run_generated(model, model.programs[0], given), run_reference(graph, given), true);
}
