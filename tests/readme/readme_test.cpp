// The root page: its code compiles, its messages are the compiler's, its excerpts are there.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/text/preprocess.h"
#include "tests/golden.h"
#include "tests/readme/pages.h"
#include "tools/fovea/process.h"

namespace {

namespace fs = std::filesystem;
using namespace fovea::test;
using fovea::tool::run_process;

const fs::path kSource = FOVEA_SOURCE_DIR;
const fs::path kFolder = fs::path(FOVEA_BINARY_DIR) / "readme";

/// What g++ says of `code` as a model file named block.cpp: the text of its because{...}.
std::string message_for(const std::string& code) {
    fs::create_directories(kFolder);
    std::ofstream(kFolder / "block.cpp") << code;
    const auto result =
        run_process({"sh", "-c",
                     "cd '" + kFolder.string() + "' && g++ -std=c++20 -fsyntax-only -I '" +
                         kSource.string() + "' -I '" + (kSource / "dsl").string() + "' block.cpp"});
    REQUIRE(result.status != 0);
    const std::string& output = result.output;
    std::size_t from = output.find("{\"", output.find("because<"));
    std::size_t to = output.find("\"}>", from);
    REQUIRE(from != output.npos);
    REQUIRE(to != output.npos);
    return output.substr(from + 2, to - from - 2);
}

std::string wrong_block() {
    std::string code = read_file(kSource / "models/lessons/block.cpp");
    const std::string right = "x, ffn, hidden)", wrong = "x, ffn, ffn)";
    const std::size_t at = code.find(right);
    REQUIRE(at != code.npos);
    return code.replace(at, right.size(), wrong);
}

std::string preprocessed(const std::string& sentence) {
    return fovea::runtime::preprocess(sentence);
}

}  // namespace

TEST_CASE("the root page is short") {
    CHECK(lines_of(read_file(kSource / "README.md")).size() <= 120);
}

TEST_CASE("the README's first message is the compiler's") {
    const std::string message = message_for(wrong_block()) + "\n";
    const std::string shown = marked_block("message").text;
    if (updates_golden_files()) {
        std::string page = read_file(kSource / "README.md");
        page.replace(page.find(shown), shown.size(), message);
        std::ofstream(kSource / "README.md", std::ios::binary) << page;
        return;
    }
    CHECK(shown == message);
}

TEST_CASE("the README shows the lesson as it is") {
    CHECK(read_file(kSource / "README.md").find(read_file(kSource / "models/lessons/block.cpp")) !=
          std::string::npos);
}

TEST_CASE("the README's loop is part of the attention that is written") {
    const std::string kernel =
        without_indent(read_file(kSource / "tests/golden/emit/attention_forward.cpp"));
    CHECK(kernel.find(without_indent(marked_block("loop").text)) != std::string::npos);
}

TEST_CASE("the README's use of a generated model compiles") {
    const fs::path folder = kFolder / "use";
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string fovea = FOVEA_BINARY_DIR "/fovea";
    const auto generated =
        run_process({fovea, "generate", (kSource / "models/lessons/block.cpp").string() + ":block",
                     "-o", (folder / "block").string()});
    REQUIRE_MESSAGE(generated.status == 0, generated.output);
    std::ofstream(folder / "use.cpp") << marked_block("use").text;
    const auto compiled =
        run_process({"g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Werror",
                     "-I" + (folder / "block").string(), (folder / "use.cpp").string()});
    CHECK_MESSAGE(compiled.status == 0, compiled.output);
}

TEST_CASE("the README's sentences are the demo's; the first is in the corpus") {
    const std::string demo = read_file(kSource / "tools/demo.sh");
    const std::string corpus = read_file(kSource / "models/transformer/corpus.tsv");
    std::vector<std::string> sentences;
    std::vector<std::string> translations;
    for (const std::string& line : lines_of(marked_block("commands").text)) {
        const std::size_t gap = line.find("  ");
        if (gap == line.npos || line.starts_with("$ ")) continue;
        sentences.push_back(line.substr(0, gap));
        translations.push_back(line.substr(line.find_first_not_of(' ', gap)));
    }
    REQUIRE(sentences.size() >= 3);
    for (const std::string& sentence : sentences)
        CHECK_MESSAGE(demo.find("\"" + sentence + "\"") != demo.npos, sentence);
    std::string translation;
    for (const std::string& line : lines_of(corpus))
        if (line.starts_with(sentences[0] + "\t"))
            translation = preprocessed(line.substr(sentences[0].size() + 1));
    CHECK(translations[0] == translation);
    for (std::size_t i = sentences.size() - 2; i < sentences.size(); ++i)
        CHECK_MESSAGE(corpus.find("\n" + sentences[i] + "\t") == corpus.npos,
                      sentences[i] << " is in the corpus");
}
