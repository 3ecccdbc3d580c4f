// A model in the user's own file: shown, verified, built, generated.
#include <doctest/doctest.h>

#include <cstring>
#include <sstream>

#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"

using fovea::test::run_fovea;

namespace {

namespace fs = std::filesystem;

constexpr const char* kUserModel = R"(#include <fovea.h>
using namespace fovea;

struct MixerSettings {
    Dim width = {"width", 12}, inner = {"inner", 20};
    double dropout = 0;
    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("width", width);
        visit("inner", inner);
        visit("dropout", dropout);
    }
};

constexpr void mixer(Scope s, const MixerSettings& c) {
    Tensor x = s.input("x", {"batch", c.width});
    Tensor y = linear(s / "out", gelu(linear(s / "in", x, c.inner)), c.width);
    s.output("y", dropout(x + y, c.dropout));
}
constexpr void wrong(Scope s) {
    Tensor x = s.input("x", {"batch", 12});
    s.output("y", x + linear(s / "out", x, 13));
}
constexpr void total(Scope s) {
    Tensor x = s.input("x", {"batch", 12});
    s.output("loss", sum(linear(s / "out", x, 12) + x, -1));
}
constexpr void select(Scope s) {  // a function of C has this name
    s.output("y", s.input("x", {"batch", 4}) * 2.0);
}
constexpr void computed(Scope s) {  // ids of which most are outside the table
    Tensor ids = s.input("ids", {"batch", 8}, i32), table = s.parameter("table", {4, 3});
    s.output("y", gather(table, ids * 5 - 2));
    s.output("z", gather(table, slice(ids, 1, 0, 7) + slice(ids, 1, 1, 7) * 3 - 7));
}
constexpr Tensor no_model(Scope s, Tensor x) { return linear(s, x, 4); }
constexpr void taken(Scope s) {
    Tensor x = s.input("x", {"site", "key", 12}), z = s.input("z", {"int", "rows", 12});
    auto heads = [&](const char* name) {
        return rearrange(linear(s / name, x, 12), "b t (h d) -> b h t d", {"h", 2});
    };
    s.output("y", dropout(attention(heads("q"), heads("k"), heads("v"), dot_product, causal,
                                    {.dropout = 0.1}), 0.2));
    s.output("w", layer_norm(s / "ln", linear(s / "out", z, 12)));
    s.output("v", linear(s / "frames", s.input("u", {"frames", 12}), 12));
}
)";

struct UserModel {
    fovea::tool::TemporaryFolder folder;
    std::string file = (folder.path() / "my.cpp").string();

    UserModel() { std::ofstream(file) << kUserModel; }
};

}  // namespace

TEST_CASE("a user's model is shown at every stage") {
    UserModel user;
    unsigned turn = fovea::test::random_seed();  // every other one, unless FOVEA_WHOLE is set
    for (const char* stage :
         {"graph", "grouped", "gradient", "optimized", "fused", "kernels", "plan", "cpp"}) {
        if (turn++ % 2 && !std::getenv("FOVEA_WHOLE")) continue;
        CAPTURE(stage);
        auto result =
            run_fovea({"show", user.file + ":mixer", "--set", "width=10", "--stage", stage});
        CHECK(result.status == 0);
        CHECK(result.output.find("10") != std::string::npos);
    }
}

TEST_CASE("a model with weights of 8 bits, which has no gradient, is shown as it runs") {
    const auto result = run_fovea(
        {"show", "gpt2", "--set", "weights=int8", "--set", "n_layer=1", "--stage", "fused"});
    CHECK(result.status == 0);
    CHECK(result.output.find("logits") != std::string::npos);
}

TEST_CASE("a user's mistake comes as the text of the model") {
    UserModel user;
    auto result = run_fovea({"show", user.file + ":wrong"});
    CHECK(result.status == 2);
    CHECK(result.output ==
          "fovea: my.cpp:22: cannot add [batch, 12] and [batch, 13] (from out): 12 is "
          "not 13\n");
    const std::string theirs = (user.folder.path() / "theirs.cpp").string();
    std::ofstream(theirs) << "#include <fovea.h>\nusing namespace fovea;\n"
                             "constexpr void a(Scope s) { matmul(s.input(\"x\", {2, 2}), 1); }\n";
    CHECK(run_fovea({"show", theirs + ":a"}).output.find("; PyTorch's matmul is einsum here\n") !=
          result.output.npos);
    std::ofstream(theirs) << "#include <fovea.h>\nusing namespace fovea;\n"
                             "constexpr void a(Scope s) { s.input(\"x\", {2, 2}).sum(1); }\n";
    CHECK(
        run_fovea({"show", theirs + ":a"}).output.find("; sum is a function here: sum(x, ...)\n") !=
        result.output.npos);
    std::ofstream(user.file, std::ios::app)
        << "static_assert(well_formed<[](Scope s) { wrong(s); }>);\n";
    CHECK(run_fovea({"show", user.file + ":mixer"}).output == result.output);
    result = run_fovea({"show", user.file + ":nope"});
    CHECK(result.status == 2);
}

TEST_CASE("a sum's gradient, one number everywhere, goes through every kernel") {
    UserModel user;
    for (const char* dtype : {"dtype=f32", "dtype=bf16"}) {
        auto result = run_fovea({"verify", user.file + ":total", "--set", dtype});
        CAPTURE(result.output);
        CHECK(result.status == 0);
        CHECK(result.output.find(" 0 missed") != std::string::npos);
    }
}

TEST_CASE("models named as a function of C, of computed ids, of numbers that are NaN") {
    UserModel user;
    for (const std::string& model : {user.file + ":select", user.file + ":computed"}) {
        const auto result = run_fovea({"verify", model});
        INFO(result.output);
        CHECK(result.status == 0);
    }
    const auto capped = run_fovea(
        {"verify", FOVEA_SOURCE_DIR "/models/lessons/scores.cpp:alibi_soft_cap", "--set", "cap=0"});
    INFO(capped.output);
    CHECK(capped.status <= 1);
    std::istringstream rows(capped.output);
    // The kernels are right; the gradients are NaN, as PyTorch's, where a difference is 0.
    for (std::string row; std::getline(rows, row);)
        if (row.starts_with("MISS")) CHECK(row.find("(finite differences)") != row.npos);
    const auto none = run_fovea({"verify", user.file + ":no_model"});
    CHECK(none.status == 2);
    CHECK(none.output.find("'no_model' in '" + user.file + "' is no model: write one function") !=
          none.output.npos);
    CHECK(run_fovea({"show", user.file + ":"}).output.find("write " + user.file + ":FUNCTION") !=
          none.output.npos);
}

TEST_CASE("dims may have names that generated code, the runtime or C++ have taken") {
    if (!fovea::test::has_turn(2, 4)) return;
    UserModel user;
    for (const char* target : {"cpu", "ptx-interpreter"}) {
        auto result = run_fovea({"verify", user.file + ":taken", "--target", target});
        CAPTURE(result.output);
        const bool lacks_llvm = result.output.find("LLVM") != std::string::npos;
        if (lacks_llvm) MESSAGE("not run: fovea was built without LLVM");
        else CHECK(result.output.find(" 0 missed") != std::string::npos);
    }
}

TEST_CASE("models may have names of the runtime's types and namespaces") {
    if (!fovea::test::has_turn(3, 4)) return;
    const fovea::tool::TemporaryFolder folder;
    const std::string file = (folder.path() / "names.cpp").string();
    std::ofstream text(file);
    text << "#include <fovea.h>\n";
    const std::vector<std::string> names{"halves", "floats", "runtime", "avx512"};
    for (const std::string& name : names)
        text << "constexpr void " << name
             << "(fovea::Scope s) { s.output(\"y\", s.input(\"x\", {\"n\"}) * 2.0); }\n";
    text.close();
    for (const std::string& name : names) {
        const auto result = run_fovea({"verify", file + ":" + name});
        CAPTURE(result.output);
        CHECK(result.output.find(" 0 missed") != std::string::npos);
    }
}

TEST_CASE("functions of a file are its own, also those that a built-in model has") {
    const fovea::tool::TemporaryFolder folder;
    const std::string file = folder.path() / "gpt2.h";
    std::string text = fovea::test::read_text(FOVEA_SOURCE_DIR "/models/today/gpt2.h");
    text.replace(text.find("gelu_tanh("), std::strlen("gelu_tanh("), "relu(");
    std::ofstream(file) << text;
    const auto shown = run_fovea({"show", file + ":fovea::models::gpt2"});
    CHECK(shown.output.find(" = relu (") != std::string::npos);
    CHECK(shown.output.find(" = sigmoid (") == std::string::npos);
    const auto without = run_fovea({"show", file + ":gpt2"});
    CHECK(without.status == 2);
    CHECK(without.output ==
          "fovea: '" + file + "' has no function 'gpt2'; models: fovea::models::gpt2\n");
    std::ofstream(file)
        << "#include <fovea.h>\n"
           "namespace a {\n"
           "constexpr void one(fovea::Scope s) { s.output(\"y\", s.input(\"x\", {4})); }\n"
           "namespace b {\n"
           "constexpr void two(fovea::Scope s) { one(s); }\n"
           "}\n"
           "constexpr void three(fovea::Scope s) { one(s); }\n"
           "}\n";
    CHECK(run_fovea({"show", file + ":none"}).output ==
          "fovea: '" + file + "' has no function 'none'; models: a::one, a::b::two, a::three\n");
}

TEST_CASE("what a file defines is its own, also beside a file with the same names") {
    const fovea::tool::TemporaryFolder folder;
    std::vector<std::string> command = {"verify"};
    for (const char* widths : {"{4, 8}", "{3, 5}"}) {
        const std::string file = folder.path() / ("model" + std::to_string(command.size()) + ".h");
        std::ofstream(file) << "#include <fovea.h>\n"
                               "struct Net { static constexpr int widths[] = "
                            << widths
                            << "; };\n"
                               "constexpr void net(fovea::Scope s) {\n"
                               "    fovea::Tensor x = s.input(\"x\", {\"batch\", 4});\n"
                               "    for (int w : Net::widths) x = linear(s / \"l\" / w, x, w);\n"
                               "    s.output(\"y\", x);\n"
                               "}\n";
        command.push_back(file + ":net");
    }
    const auto result = run_fovea(command);
    CHECK(result.status == 0);
    for (const char* layer : {"l.4.weight", "l.8.weight", "l.3.weight", "l.5.weight"})
        CHECK_MESSAGE(result.output.find(layer) != std::string::npos, result.output);
}

TEST_CASE("a function that the file lacks") {
    UserModel user;
    auto result = run_fovea({"show", user.file + ":nope"});
    CHECK(result.status == 2);
    CHECK(result.output == "fovea: '" + user.file +
                               "' has no function 'nope'; models: mixer, wrong, total, select, "
                               "computed, taken\n");
}

TEST_CASE("a typo in a pattern comes with the model's line and the pattern") {
    fovea::tool::TemporaryFolder folder;
    const std::string file = (folder.path() / "typo.cpp").string();
    const auto said = [&](const std::string& call) {
        std::ofstream(file) << "#include <fovea.h>\nusing namespace fovea;\n"
                               "constexpr void typo(Scope s) {\n"
                               "    Tensor x = s.input(\"x\", {\"b\", \"t\", 8});\n"
                               "    s.output(\"y\", "
                            << call << ");\n}\n";
        const auto result = run_fovea({"show", file + ":typo"}, {"CXX=g++"});
        CHECK(result.status == 2);
        return result.output;
    };
    CHECK(said(R"(rearrange(x, "b t (h d -> b h t d", {"h", 2}))") ==
          "fovea: typo.cpp:5: pattern has unbalanced or nested parentheses: "
          "\"b t (h d -> b h t d\"\n");
    CHECK(said(R"(einsum("b t d, d -> b t v", x, s.input("w", {8})))") ==
          "fovea: typo.cpp:5: pattern has an axis on the right that is not on the left: "
          "\"b t d, d -> b t v\"\n");
}

TEST_CASE("a model that gives nothing is refused") {
    fovea::tool::TemporaryFolder folder;
    const std::string file = (folder.path() / "none.cpp").string();
    std::ofstream(file) << "#include <fovea.h>\n"
                           "constexpr void none(fovea::Scope s) { s.input(\"x\", {3}); }\n";
    const auto result = run_fovea({"verify", file + ":none"});
    CHECK(result.status == 2);
    CHECK(result.output.find("the model has no output: name what it gives") != result.output.npos);
}

TEST_CASE("two settings of one name are refused") {
    fovea::tool::TemporaryFolder folder;
    const std::string file = (folder.path() / "settings.cpp").string();
    std::ofstream(file) << R"(#include <fovea.h>
using namespace fovea;
struct Settings {
    int a = 1, b = 2;
    template <class Visit>
    constexpr void fields(Visit&& visit) { visit("n", a); visit("n", b); }
};
constexpr void twice(Scope s, const Settings& c) {
    s.output("y", s.input("x", {3}) * double(c.a + c.b));
}
)";
    const auto result = run_fovea({"show", file + ":twice"});
    CHECK(result.status == 2);
    CHECK(result.output == "fovea: twice has two settings of the name 'n'\n");
}

TEST_CASE("a folder holds one generated model") {
    const UserModel user;
    const std::string folder = (user.folder.path() / "out").string();
    REQUIRE(run_fovea({"generate", user.file + ":total", "-o", folder}).status == 0);
    CHECK(run_fovea({"generate", user.file + ":total", "-o", folder}).status == 0);
    const auto second = run_fovea({"generate", user.file + ":taken", "-o", folder});
    CHECK(second.status == 2);
    CHECK(second.output.find("is of something else than taken: choose another folder") !=
          second.output.npos);
}

TEST_CASE("a user's model is verified, with dropout") {
    UserModel user;
    auto result = run_fovea({"verify", user.file + ":mixer", "--set", "dropout=0.2", "--json"});
    CHECK(result.status == 0);
    CHECK(result.output.find("\"ok\": true") != std::string::npos);
    CHECK(result.output.find("gradient_train/out.weight.grad (finite differences)") !=
          std::string::npos);
}

TEST_CASE("a user's model is built and generated") {
    if (!fovea::test::has_turn(1, 2)) return;
    UserModel user;
    const std::string program = (user.folder.path() / "mixer").string();
    REQUIRE(run_fovea({"build", user.file + ":mixer", "-o", program}).status == 0);
    auto described = fovea::tool::run_process({program, "describe"});
    CHECK(described.status == 0);
    CHECK(described.output.find("in.weight") != std::string::npos);
    const std::string libraries = fovea::tool::run_process({"ldd", program}).output;
    for (const char* foreign : {"libfmt", "libboost", "libfovea"})
        CHECK(libraries.find(foreign) == std::string::npos);

    const fs::path generated = user.folder.path() / "generated";
    REQUIRE(run_fovea({"generate", user.file + ":mixer", "-o", generated.string(), "--training"})
                .status == 0);
    for (const char* name : {"mixer.h", "mixer.cpp", "CMakeLists.txt", "fovea/program.h"})
        CHECK(fs::exists(generated / name));
}

TEST_CASE("sizes are drawn within a model's tables, and given ones are kept") {
    fovea::tool::TemporaryFolder folder;
    const std::string file = folder.path() / "table.cpp";
    std::ofstream(file) << R"(#include "fovea.h"
using namespace fovea;
constexpr void positions(Scope s) {
    Tensor table = s.parameter("table", {14, 6});
    Tensor x = s.input("x", {"batch", "len", 6}) + slice(table, 0, 2, "len");
    s.output("y", x);
}
)";
    auto result = run_fovea({"verify", file + ":positions"});
    CAPTURE(result.output);
    CHECK(result.status == 0);
    CHECK(result.output.find("len=12") != std::string::npos);
    CHECK(result.output.find("len=17") == std::string::npos);
    result =
        run_fovea({"verify", file + ":positions", "--size", "len=8,batch=2", "--size", "len=9"});
    CHECK(result.status == 0);
    CHECK(result.output.find("batch=2 len=9") != std::string::npos);
    CHECK(result.output.find("batch=3") == std::string::npos);
    result = run_fovea({"verify", file + ":positions", "--size", "len=13"});
    CHECK(result.status == 2);
    CHECK(result.output ==
          "fovea: table.cpp:5: a slice of 13 from 2 does not lie within the 14 "
          "elements of its axis; give other sizes (--size DIM=N)\n");
}
