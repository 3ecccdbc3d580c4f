// Numbers below 2^-126 in generated code: zeros where processors are slow with them, the caller's
// settings left alone, and logarithms that read them all the same.
#include "runtime/isa.h"
#include "tests/models/run_everywhere.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr double kLeast = 0x1p-126;

Graph powers() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {40});
    s.output("power", exp(x));
    s.output("product", s.input("a", {40}) * s.input("b", {40}));
    s.output("log", log(s.input("p", {40})));
    // The last of each row is e^-95 of the first.
    s.output("weights", softmax(s.input("scores", {3, 20})));
    return graph;
}

Arrays small_inputs() {
    return {{"x", array_of({40}, [](int i) { return -84.0 - i * 0.5; })},
            {"a", array_of({40}, [](int i) { return std::ldexp(1.0, -60 - i); })},
            {"b", array_of({40}, [](int) { return 0x1p-50; })},
            {"p", array_of({40}, [](int i) { return i == 0 ? 0 : std::ldexp(1.0, -149 + i); })},
            {"scores", array_of({3, 20}, [](int i) { return -5.0 * (i % 20); })}};
}

/// What the processor does with such numbers.
unsigned settings_of_this_thread() {
#ifdef __SSE2__
    constexpr unsigned kSeen = 0x3f;
    return _mm_getcsr() & ~kSeen;
#else
    return 0;
#endif
}

void check_small(const Array& found, const Array& exact, bool are_kept) {
    bool has_small = false;
    for (std::size_t i = 0; i < exact.values.size(); ++i) {
        CAPTURE(i);
        const bool is_small = exact.values[i] < kLeast * (1 - 1e-6);
        has_small = has_small || is_small;
        if (is_small && !are_kept) CHECK(found.values[i] == 0);
        else CHECK(std::fabs(found.values[i] - exact.values[i]) <= 1e-5 * exact.values[i] + 1e-45);
    }
    CHECK(has_small);
}

void check_powers(const Graph& graph, const std::string& isa, bool are_kept) {
    CAPTURE(isa);
    const Arrays exact = test::run_reference(graph, false, small_inputs());
    const CompiledModel compiled =
        compile_model("powers", "", {}, {{.name = "forward", .graph = graph}});
    const runtime::Model& model = tool::load_generated(compiled.plan, isa, tool::Keep::nowhere);
    const unsigned before = settings_of_this_thread();
    Arrays outputs = test::run_generated(model, model.programs[0], small_inputs());
    CHECK(settings_of_this_thread() == before);
    for (const char* name : {"power", "product", "weights"}) {
        CAPTURE(name);
        check_small(outputs.at(name), exact.at(name), are_kept);
    }
    for (std::size_t i = 1; i < 40; ++i)
        CHECK(outputs.at("log").values[i] == doctest::Approx(exact.at("log").values[i]));
    CHECK(std::isinf(outputs.at("log").values[0]));
}

}  // namespace

TEST_CASE("numbers below 2^-126 are zeros on x86, but for portable bits") {
    const Graph graph = powers();
    const std::string isa = tool::isa_of_this_machine();
    const bool is_x86 = runtime::machine_of(isa) == "x86_64";
    check_powers(graph, isa, !is_x86);
    const std::string_view portable = runtime::portable_of(isa);
    if (!portable.empty()) check_powers(graph, std::string(portable), true);
}
