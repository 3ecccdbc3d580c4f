// The page of the demo's translator, in Chromium without a window: the words of the program. Left
// out where em++, node or Chromium is missing.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/demo/commands.h"
#include "tests/random_seed.h"
#include "tests/required.h"
#include "tests/tools/run_fovea.h"

using fovea::test::Folder;
using fovea::test::has;
using fovea::test::kCorpus;
using fovea::test::kSource;
using fovea::test::run_fovea;
using fovea::tool::ProcessResult;
using fovea::tool::run_process;
using fovea::tool::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

const std::string kSettings =
    "--set hidden=64 --set ffn=128 --set heads=4 --set layers=2 --set dropout=0.1";

/// The sentences that the demo translates.
std::vector<std::string> demo_sentences() {
    std::ifstream file(kSource / "tools/demo.sh");
    std::vector<std::string> sentences;
    for (std::string line; std::getline(file, line);) {
        if (line.find("for sentence in \"") == std::string::npos) continue;
        for (std::size_t at = line.find('"'); at != std::string::npos;) {
            const std::size_t end = line.find('"', at + 1);
            sentences.push_back(line.substr(at + 1, end - at - 1));
            at = line.find('"', end + 1);
        }
    }
    return sentences;
}

/// What the page shows of each sentence, a line of JSON each; its console stays empty.
std::vector<nlohmann::json> shown_on(const fs::path& page,
                                     const std::vector<std::string>& sentences) {
    const TemporaryFolder profile;
    std::vector<std::string> command = {"node", (kSource / "tests/wasm/open_page.js").string(),
                                        page.string(), profile.path().string()};
    command.insert(command.end(), sentences.begin(), sentences.end());
    const ProcessResult opened = run_process(command);
    REQUIRE_MESSAGE(opened.status == 0, opened.output);
    std::vector<nlohmann::json> shown;
    std::istringstream lines(opened.output);
    for (std::string line; std::getline(lines, line);) shown.push_back(nlohmann::json::parse(line));
    REQUIRE(shown.size() == sentences.size());
    return shown;
}

/// A row for each word of the translation, whose weights over the sentence add up to 1.
void check_map(const nlohmann::json& shown) {
    const std::vector<double> weights = shown.at("weights");
    const std::vector<std::string> rows = shown.at("rows"), columns = shown.at("columns");
    REQUIRE(rows.size() * columns.size() == weights.size());
    std::string words;
    for (const std::string& word : rows)
        if (word != "<eos>") words += (words.empty() ? "" : " ") + word;
    CHECK(words == shown.at("translation").get<std::string>());
    CHECK(columns.back() == "<eos>");
    for (std::size_t row = 0; row < rows.size(); ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < columns.size(); ++i) sum += weights[row * columns.size() + i];
        CHECK(std::abs(sum - 1) < 0.01);
    }
}

}  // namespace

TEST_CASE("the page translates the demo's sentences with the words of the program") {
    if (!has("em++") || !has("node") || !has("chromium") || !fovea::test::has_turn(0, 2)) return;
    const Folder folder("wasm_test");
    folder.build("transformer", "-o translator --isa native " + kSettings);
    folder.run("./translator train --data '" + kCorpus.string() +
               "' --weights weights --epochs 100 > /dev/null 2>&1");
    const std::vector<std::string> sentences = demo_sentences();
    REQUIRE(sentences.size() == 5);
    folder.run("'" + (fovea::test::kBinary / "fovea").string() +
               "' page transformer --weights weights -o page.html --text 'I am tired.' " +
               kSettings + " > /dev/null");
    const fs::path page = folder.path / "page.html";
    CHECK(fs::file_size(page) <= 3'000'000);
    std::vector<std::string> written = sentences;
    written.insert(written.end(), {"<b>i</b> am & \"tired\" .", ""});
    const auto shown = shown_on(page, written);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        CAPTURE(sentences[i]);
        const auto lines =
            folder.lines_of("./translator translate --weights weights '" + sentences[i] + "'");
        REQUIRE(lines.size() == 1);
        CHECK(shown[i].at("translation") == lines.front());
        CHECK(shown[i].at("wrong") == "");
        check_map(shown[i]);
    }
    // What a user writes is text: an element for each cell and word, and no other.
    const auto& marked = shown[sentences.size()];
    check_map(marked);
    const std::size_t columns = marked.at("columns").size(), rows = marked.at("rows").size();
    const std::size_t before = shown[0].at("columns").size(), above = shown[0].at("rows").size();
    CHECK(marked.at("elements").get<std::size_t>() - 2 * columns - rows * (columns + 2) ==
          shown[0].at("elements").get<std::size_t>() - 2 * before - above * (before + 2));
    CHECK(marked.at("columns").at(0) == "<b>i</b>");
    CHECK(shown.back().at("translation") == "");
}

TEST_CASE("a page is of a model that translates, and of its weights") {
    if (!has("em++")) return;
    const TemporaryFolder folder;
    const std::string to = folder.path() / "page.html", none = folder.path() / "none";
    const ProcessResult other = run_fovea({"page", "add_norm", "--weights", none, "-o", to});
    CHECK(other.status == 2);
    CHECK(other.output ==
          "fovea: add_norm does not translate: pages are of models whose built program does\n");
    const ProcessResult missing = run_fovea({"page", "transformer", "--weights", none, "-o", to});
    CHECK(missing.status == 2);
    CHECK(missing.output.find("'" + none + "'") != std::string::npos);
    CHECK(!fs::exists(to));
}
