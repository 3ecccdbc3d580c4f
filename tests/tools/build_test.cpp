// `fovea build`: what it says of programs that lack commands.
#include <doctest/doctest.h>

#include "tests/tools/run_fovea.h"

using fovea::test::run_fovea;
using fovea::test::value_flags;

TEST_CASE("why the program of a model of logits has no generate is said") {
    const fovea::tool::TemporaryFolder folder;
    const std::string file = (folder.path() / "own.cpp").string();
    std::ofstream(file) << R"(#include <fovea.h>
using namespace fovea;

constexpr void own(Scope s, const char* input) {
    Tensor x = embedding(s / "words", s.input(input, {"batch", "len"}, i32), 11, 8);
    s.output("logits", linear(s / "head", x, 11));
}
constexpr void of_other_name(Scope s) { own(s, "input_ids"); }
constexpr void of_ids(Scope s) { own(s, "ids"); }
)";
    const auto said = [&](const std::string& function) {
        const auto built = run_fovea({"build", file + ":" + function, "-o",
                                      (folder.path() / function).string(), "--isa", "native"},
                                     {value_flags()});
        CHECK(built.status == 0);
        return built.output;
    };
    CHECK(said("of_other_name")
              .starts_with("note: the program has no train, generate and score: the model cannot "
                           "be decoded token by "
                           "token: it has no input 'ids'"));
    CHECK(said("of_ids") == "");
}
