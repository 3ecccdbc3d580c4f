// Functions of models that crash, end the process or throw numbers.
#include <doctest/doctest.h>

#include "tests/tools/run_fovea.h"

using fovea::test::run_fovea;

TEST_CASE("a function that crashes is the user's mistake") {
    const fovea::tool::TemporaryFolder folder;
    const std::string file = (folder.path() / "crash.cpp").string();
    std::ofstream(file) << R"(#include <fovea.h>
using namespace fovea;

struct CrashSettings {
    std::vector<int> widths = {4, 8};
    int layers = 3, heads = 0;
    template <class Visit>
    void fields(Visit&& visit) {
        visit("widths", widths);
        visit("layers", layers);
        visit("heads", heads);
    }
};

void short_list(Scope s, const CrashSettings& c) {
    Tensor x = s.input("x", {"batch", 4});
    for (int i = 0; i < c.layers; ++i) x = linear(s / i, x, c.widths[i]);
    s.output("y", x);
}
void no_heads(Scope s, const CrashSettings& c) {
    s.output("y", linear(s, s.input("x", {"batch", 4}), 64 / c.heads));
}
Tensor endless(Scope s, Tensor x, int depth) {
    return depth < 0 ? x : endless(s, x, depth + 1) + endless(s, x, depth + 2);
}
void no_end(Scope s) { s.output("y", endless(s, s.input("x", {"batch", 4}), 0)); }
void ends(Scope s) { std::exit(s.input("x", {"batch", 4}).rank() - 2); }
void number(Scope s) { throw s.input("x", {"batch", 4}).rank(); }
)";
    const auto said = [&](const std::string& function) {
        const auto result = run_fovea({"show", file + ":" + function});
        CHECK(result.status == 2);
        return result.output.substr(result.output.find("fovea: "));
    };
    CHECK(said("short_list") ==
          "fovea: the function of short_list aborts: a list has fewer elements than it reads, or "
          "an exception leaves a function that is noexcept\n");
    CHECK(said("ends") == "fovea: the function of ends ends the process\n");
    CHECK(said("number") == "fovea: the function of number throws what is no std::exception\n");
    CHECK(said("no_heads") == "fovea: the function of no_heads divides an integer by zero\n");
    CHECK(said("no_end") ==
          "fovea: the function of no_end reads memory that is not its own, or calls itself "
          "without end\n");
}
