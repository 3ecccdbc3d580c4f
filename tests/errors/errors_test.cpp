// Wrong models throw the text that the compiler prints for them first (tests/compile_fail).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "codegen/base/error.h"
#include "dsl/model_entry.h"
#include "tests/errors/cases/einsum_axis.h"
#include "tests/errors/cases/embedding_forgotten.h"
#include "tests/errors/cases/ffn_width.h"
#include "tests/errors/cases/heads.h"
#include "tests/errors/cases/labels.h"
#include "tests/errors/cases/long_message.h"
#include "tests/errors/cases/mask_lens.h"
#include "tests/errors/cases/movements.h"
#include "tests/errors/cases/names_of_dims.h"
#include "tests/errors/cases/parameter_names.h"
#include "tests/errors/cases/patterns.h"
#include "tests/errors/cases/scan_reads.h"
#include "tests/errors/cases/scan_state.h"
#include "tests/errors/cases/sizes.h"
#include "tests/errors/cases/src_len_open.h"
#include "tests/errors/cases/strangers.h"
#include "tests/errors/cases/tables.h"

namespace {

namespace fs = std::filesystem;

const std::map<std::string, void (*)(fovea::Scope)> kCases = {
    {"einsum_axis", einsum_axis},
    {"embedding_forgotten", embedding_forgotten},
    {"ffn_width", ffn_width},
    {"heads", heads},
    {"labels", labels},
    {"long_message", long_message},
    {"mask_lens", mask_lens},
    {"movements", movements},
    {"names_of_dims", names_of_dims},
    {"parameter_names", parameter_names},
    {"patterns", patterns},
    {"scan_reads", scan_reads},
    {"scan_state", scan_state},
    {"sizes", sizes},
    {"src_len_open", src_len_open},
    {"strangers", strangers},
    {"tables", tables},
};

std::string thrown_text(void (*model)(fovea::Scope)) {
    fovea::Graph graph;
    try {
        model(fovea::Scope{&graph});
    } catch (const fovea::UserError& error) {
        return error.what();
    }
    return "nothing was thrown";
}

std::string setting_error(const std::string& name, const std::string& value) {
    fovea::models::TransformerSettings settings;
    try {
        fovea::set_field(settings, name, value);
    } catch (const fovea::UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a wrong model throws what the compiler prints") {
    for (const auto& entry : fs::directory_iterator(FOVEA_SOURCE_DIR "/tests/errors/cases")) {
        if (entry.path().extension() != ".txt") continue;
        const std::string name = entry.path().stem().string();
        CAPTURE(name);
        REQUIRE(kCases.count(name));
        std::ifstream file(entry.path());
        std::string first;  // the compiler goes on and finds more
        std::getline(file, first);
        CHECK(first == thrown_text(kCases.at(name)));
    }
}

TEST_CASE("settings refuse values that do not fit") {
    for (const char* text : {"0", "8x", "-1", "", "16777217", "99999999999999999999"})
        CHECK(setting_error("hidden", text) ==
              "setting 'hidden' takes a whole number from 1 to 16777216, not '" +
                  std::string(text) + "'");
    for (const char* text : {"-1", "1000000001", "4294967297"})
        CHECK(setting_error("layers", text) ==
              "setting 'layers' takes a whole number from 0 to 1000000000, not '" +
                  std::string(text) + "'");
    CHECK(setting_error("hidden", "16777216").empty());
    CHECK(setting_error("dropout", "nan") == "setting 'dropout' takes a number, not 'nan'");
    CHECK(setting_error("bias", "yes") == "setting 'bias' takes true or false, not 'yes'");
    CHECK(setting_error("norm_over", "rows") ==
          "setting 'norm_over' takes features|tokens_and_features, not 'rows'");
    CHECK(setting_error("src_vocab", "12").empty());
}

TEST_CASE("a model of too many operations is refused while it is built") {
    fovea::models::TransformerSettings settings;
    settings.layers = 1'000'000;
    std::string text;
    fovea::Graph graph;
    try {
        const fovea::Tensor ids = fovea::Scope{&graph}.input("src", {"batch", "len"}, fovea::i32);
        const fovea::Tensor lens = fovea::Scope{&graph}.input("lens", {"batch"}, fovea::i32);
        fovea::models::encode(fovea::Scope{&graph} / "encoder", settings, ids, lens);
    } catch (const fovea::UserError& error) {
        text = error.what();
    }
    CHECK(text ==
          "the model has more than 200000 operations, which is the limit: take fewer "
          "layers, or a scan over them");
    CHECK(graph.nodes.size() == fovea::kMostNodes);
}

TEST_CASE("a size that is set keeps its name") {
    fovea::models::TransformerSettings settings;
    fovea::set_field(settings, "src_vocab", "12");
    fovea::set_field(settings, "hidden", "32");
    fovea::Text text;
    text << settings.src_vocab << " " << settings.hidden << " " << settings.tgt_vocab;
    CHECK(text.view() == "src_vocab=12 hidden=32 tgt_vocab");
}

namespace {

void of_no_output(fovea::Scope s) { fovea::exp(s.input("x", {3})); }

void of_four_mistakes(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {3, 4});
    s.output("a", fovea::sum(x, 2));
    s.output("b", x + s.input("y", {3, 5}));
    s.output("c", fovea::unsqueeze(x, 9));
    s.output("d", fovea::squeeze(x, 0));
}

void of_unknown_size(fovea::Scope s) {
    s.output("y", s.input("x", {"batch", 9}) * fovea::sqrt(fovea::Dim("len")));
}

}  // namespace

TEST_CASE("the first mistakes of a model are listed, up to three, as the compiler lists them") {
    std::string text;
    try {
        fovea::builder_of<of_four_mistakes>()({});
    } catch (const fovea::UserError& error) {
        text = error.what();
    }
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    CHECK(text.starts_with("errors_test.cpp:139: "));
    for (const char* next : {"\nerrors_test.cpp:140: ", "\nerrors_test.cpp:141: "})
        CHECK(text.find(next) != text.npos);
}

TEST_CASE("a model without an output is refused") {
    CHECK_THROWS_WITH_AS(
        fovea::builder_of<of_no_output>()({}),
        "errors_test.cpp:135: the model has no output: name what it gives with s.output(\"y\", y)",
        fovea::UserError);
}

TEST_CASE("values of a size that nothing of the model has are refused, too") {
    using namespace fovea;
    const auto refusal = [](auto&& made) {
        Graph graph;
        Scope s{&graph};
        Tensor x = s.input("x", {"batch", 1}), all = made(graph, x);
        s.output("y", sum(all, -1));
        try {
            refuse_unknown_sizes(graph);
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    const std::string expected =
        ": the size keys is one of no input, output or parameter: nobody can know it when the "
        "model runs";
    const Location at{"f.cpp", 3};
    const Shape wide{"batch", "keys"};
    CHECK(refusal([&](Graph&, Tensor x) { return broadcast(x, wide, at); }) ==
          "f.cpp:3" + expected);
    CHECK(refusal([&](Graph& graph, Tensor) {
              return cast(iota(graph, {1, "keys"}, 1, at), f32);
          }) == "f.cpp:3" + expected);
    CHECK(refusal([&](Graph& graph, Tensor) { return full(graph, {1, "keys"}, 1, f32, at); }) ==
          "f.cpp:3" + expected);
    CHECK(refusal([&](Graph&, Tensor x) { return pad(x, 1, "keys", 0, at); }) ==
          "f.cpp:3" + expected);
    CHECK(refusal([&](Graph& graph, Tensor) { return sinusoids(graph, "batch", "keys", at); }) ==
          "f.cpp:3" + expected);
    CHECK(refusal([&](Graph&, Tensor x) { return broadcast(x, {"batch", 5}, at); }) == "none");
}

TEST_CASE("a size that nothing of the model has is refused when the model is whole") {
    CHECK_THROWS_WITH_AS(
        fovea::builder_of<of_unknown_size>()({}),
        "errors_test.cpp:146: the size len is one of no input, output or parameter: "
        "nobody can know it when the model runs",
        fovea::UserError);
}

TEST_CASE("names of gradients, and modules without a name, are refused") {
    using namespace fovea;
    Graph graph;
    const Scope s{&graph};
    const auto refusal = [](auto&& call) -> std::string {
        try {
            call();
        } catch (const UserError& error) {
            return error.what();
        }
        return "none";
    };
    CHECK(refusal([&] {
              s.input("y.grad", {3});
          }).find("input 'y.grad': names that end in .grad") != std::string::npos);
    CHECK(refusal([&] { s.output("y.grad", s.input("x", {3})); }).find("output 'y.grad'") !=
          std::string::npos);
    CHECK(refusal([&] { (s / "").parameter("w", {3}); }).find("a module without a name") !=
          std::string::npos);
    CHECK(refusal([&] { (s / "grad").parameter("w", {3}); }) == "none");
}
