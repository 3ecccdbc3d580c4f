// Wrong models do not compile, and the compiler's output says why: the cases of tests/errors with
// the very text that they throw at run time, those of cases/ here, which only a compiler sees, and
// the models of models/today with one wrong size each.
//
// `<case>.txt` holds what because{...} says; where a mistake has no such text, `<case>.g++.txt` and
// `<case>.clang.txt` hold the compilers' first error. `--update` writes them anew.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/golden.h"
#include "tests/random_seed.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/process.h"

namespace {

namespace fs = std::filesystem;
using namespace fovea::tool;

const fs::path kSources = FOVEA_SOURCE_DIR;

/// Headers are those beside the file, then those of the sources.
std::string compile(const std::string& compiler, const fs::path& file) {
    ProcessResult result =
        run_process({"env", "LC_ALL=C", compiler, "-std=c++20", "-fsyntax-only",
                     "-fdiagnostics-color=never", "-I" + file.parent_path().string(),
                     "-I" + kSources.string(), "-I" + (kSources / "dsl").string(), file.string()});
    CHECK_MESSAGE(result.status != 0, compiler << " compiles it");
    return result.output;
}

/// `error: …` without the place.
std::string error_text(const std::string& output) {
    std::string line = first_error(output);
    return line.substr(std::min(line.find("error:"), line.size()));
}

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void compare(const fs::path& path, const std::string& text) {
    if (fovea::test::updates_golden_files()) std::ofstream(path) << text << "\n";
    CHECK(text_of(path) == text + "\n");
}

void check_output(const std::string& output, const fs::path& expected, const std::string& kind) {
    std::vector<std::string> messages = because_messages(output);
    INFO(output);
    if (!messages.empty())
        return compare(fs::path(expected).replace_extension(".txt"),
                       fmt::format("{}", fmt::join(messages, "\n")));
    compare(fs::path(expected).replace_extension("." + kind + ".txt"), error_text(output));
}

std::vector<fs::path> files(const fs::path& folder, const std::string& extension) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == extension) found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

void check_all(const std::string& compiler, const std::string& kind) {
    if (find_program(compiler).empty()) {
        MESSAGE(compiler << " is not installed: skipped");
        return;
    }
    TemporaryFolder temporary;
    std::vector<fs::path> headers = files(kSources / "tests/errors/cases", ".h");
    // These have one text for both compilers: a third of them for each, others for the other.
    if (!fovea::test::updates_golden_files())
        headers = fovea::test::turns_of(headers, 3, kind == "clang");
    for (const fs::path& header : headers) {
        CAPTURE(header.stem().string());
        fs::path source = temporary.path() / "case.cpp";
        std::ofstream(source) << fmt::format(
            "#include \"{}\"\nstatic_assert(fovea::well_formed<[](fovea::Scope s) {{ {}(s); "
            "}}>);\n",
            header.string(), header.stem().string());
        check_output(compile(compiler, source), header, kind);
    }
    for (const fs::path& source : files(kSources / "tests/compile_fail/cases", ".cpp")) {
        CAPTURE(source.stem().string());
        check_output(compile(compiler, source), source, kind);
    }
}

/// A model with one wrong size: `piece` of a file of models/today stands there once, and becomes
/// `wrong`.
struct WrongModel {
    const char *name, *call, *file, *piece, *wrong;
};

/// Models that are compiled together: what is wrong in one, the others do not come to.
const std::vector<std::vector<WrongModel>> kWrongModels = {
    {{"gpt2", "gpt2(s, {.n_layer = 1})", "gpt2.h", "\"c_proj\", y, c.n_embd",
      "\"c_proj\", y, inner"},
     {"bert", "bert(s, {.num_hidden_layers = 1})", "bert.h",
      "c.max_position_embeddings, c.hidden_size", "c.max_position_embeddings, c.intermediate_size"},
     {"vit", "vit(s, {.num_hidden_layers = 1})", "vit.h", "pixels, c.hidden_size",
      "pixels, c.intermediate_size"},
     {"t5", "t5(s, {.num_layers = 1})", "t5.h", "c.dropout_rate), c.d_model",
      "c.dropout_rate), c.d_ff"},
     {"gemma2", "gemma2(s, {.decoder = {.num_hidden_layers = 1}})", "norms.h", "{x.dim(-1)}",
      "{x.dim(-2)}"}},
    {{"llama", "llama(s, {.num_hidden_layers = 1})", "decoder.h", "gate * up, c.hidden_size",
      "gate * up, c.intermediate_size"},
     {"phi3", "phi3(s, {.decoder = {.num_hidden_layers = 1}})", "decoder.h", "heads + 2 * groups",
      "heads + groups"},
     {"olmo2", "olmo2(s, {.decoder = {.num_hidden_layers = 1}})", "decoder.h",
      "x = x + norm(after, \"post_attention_layernorm\", y)",
      "x = x + norm(after, \"post_attention_layernorm\", after ? slice(y, -1, 0, 64) : y)"}},
    {{"mistral", "mistral(s, {.num_hidden_layers = 1})", "decoder.h", "seen, c.hidden_size",
      "seen, c.vocab_size"},
     {"gemma3", "gemma3(s, {.gemma = {.decoder = {.num_hidden_layers = 1}}})", "gemma.h",
      "\"len\", c.head_width()", "\"len\", c.head_width() + 1"}},
    {{"qwen3", "qwen3(s, {.num_hidden_layers = 1})", "decoder.h",
      "project(\"v_proj\", groups), groups", "project(\"v_proj\", heads), heads"}},
};

void write_wrong_file(const WrongModel& model, const fs::path& folder) {
    const fs::path own = fs::path("models/today") / model.file;
    const fs::path written = folder / own;
    std::string text = text_of(fs::exists(written) ? written : kSources / own);
    const std::string piece = model.piece;
    const std::size_t at = text.find(piece);
    REQUIRE_MESSAGE(at != text.npos, own.string() << " holds no " << piece);
    REQUIRE_MESSAGE(text.find(piece, at + 1) == text.npos, own.string() << " holds two " << piece);
    std::ofstream(written) << text.replace(at, piece.size(), model.wrong);
}

void check_wrong_models(const std::string& compiler, const std::vector<WrongModel>& models) {
    TemporaryFolder temporary;
    fs::create_directories(temporary.path() / "models/today");
    const fs::path source = temporary.path() / "case.cpp";
    std::ofstream text(source);
    for (const WrongModel& model : models) {
        write_wrong_file(model, temporary.path());
        text << fmt::format("#include \"models/today/{}.h\"\n", model.name);
    }
    text << "using fovea::Scope;\n";
    for (const WrongModel& model : models)
        text << fmt::format(
            "static_assert(fovea::well_formed<[](Scope s) {{ fovea::models::{}; }}>);\n",
            model.call);
    text.close();
    const std::string output = compile(compiler, source);
    INFO(output);
    const std::vector<std::string> messages = because_messages(output);
    REQUIRE(messages.size() == models.size());
    for (std::size_t i = 0; i < models.size(); ++i)
        compare(
            kSources / "tests/compile_fail/cases/models" / (std::string(models[i].name) + ".txt"),
            messages[i]);
}

/// Half of them, those that the other compiler does not take: the text is one.
void check_all_models(const std::string& compiler, std::size_t turn) {
    if (find_program(compiler).empty()) {
        MESSAGE(compiler << " is not installed: skipped");
        return;
    }
    const bool all = fovea::test::updates_golden_files();
    for (const auto& models : all ? kWrongModels : fovea::test::turns_of(kWrongModels, 2, turn))
        check_wrong_models(compiler, models);
}

}  // namespace

TEST_CASE("g++ says which size of a model of today is wrong") { check_all_models("g++", 0); }
TEST_CASE("clang says which size of a model of today is wrong") {
    check_all_models("clang++-19", 1);
}

TEST_CASE("g++ says why a wrong model does not compile") { check_all("g++", "g++"); }
TEST_CASE("clang says why a wrong model does not compile") { check_all("clang++-19", "clang"); }
