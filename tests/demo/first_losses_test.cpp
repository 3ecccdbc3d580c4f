// The demo's translator: its first ten losses, and the bits of its weights over thread counts.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/files/json.h"
#include "runtime/isa.h"
#include "runtime/safetensors.h"
#include "tests/golden.h"

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = FOVEA_SOURCE_DIR, kBinary = FOVEA_BINARY_DIR;
const fs::path kFolder = kBinary / "demo_test";

void run(const std::string& command) {
    INFO(command);
    REQUIRE(std::system(("cd '" + kFolder.string() + "' && " + command).c_str()) == 0);
}

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file.good(), path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Trains ten epochs (ten steps each) of the demo with some threads; gives the epochs' losses.
std::vector<double> train_losses(int threads, const std::string& name) {
    fs::remove(kFolder / (name + ".jsonl"));
    run("./translator train --data '" + (kRoot / "models/transformer/corpus.tsv").string() +
        "' --weights " + name + " --log " + name + ".jsonl --epochs 10 --threads " +
        std::to_string(threads) + " > /dev/null 2>&1");
    std::vector<double> losses;
    std::istringstream log(read(kFolder / (name + ".jsonl")));
    for (std::string line; std::getline(log, line);)
        losses.push_back(fovea::runtime::parse_json(line).find("loss")->number());
    return losses;
}

std::string text_of(const std::vector<double>& losses) {
    std::ostringstream text;
    for (double loss : losses) text << std::fixed << std::setprecision(4) << loss << "\n";
    return text.str();
}

/// What `translate` prints for the first sentences of the corpus.
std::vector<std::string> translated_lines(const std::string& options) {
    run("cut -f1 '" + (kRoot / "models/transformer/corpus.tsv").string() +
        "' | head -60 | ./translator translate --weights two " + options + " > lines");
    std::vector<std::string> lines;
    std::istringstream text(read(kFolder / "lines"));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

void check_translations() {
    const std::vector<std::string> greedy = translated_lines("--scores"),
                                   wide = translated_lines("--beam 4 --scores");
    CHECK(greedy == translated_lines("--scores --batch 1"));
    CHECK(wide == translated_lines("--beam 4 --scores --batch 7"));
    double greedy_sum = 0, wide_sum = 0;
    for (const std::string& line : greedy) greedy_sum += std::stod(line);
    for (const std::string& line : wide) wide_sum += std::stod(line);
    CHECK(wide_sum >= greedy_sum);
    run("./translator translate --weights two --attention maps.safetensors 'I am tired.' > "
        "/dev/null");
    const auto maps = fovea::runtime::read_safetensors((kFolder / "maps.safetensors").string());
    CHECK(maps.tensors().size() == 6);
    const auto* cross = maps.find("decoder.blks.block1.attention2.weights");
    REQUIRE(cross);
    CHECK(cross->shape[0] == 4);
    CHECK(cross->shape[2] == 5);  // i am tired . <eos>
    run("./translator translate --weights two --attention maps.svg 'I am tired.' > /dev/null");
    CHECK(read(kFolder / "maps.svg").find("decoder.blks.block1.attention2") != std::string::npos);
}

/// The translations that the root page shows, of the demo's training. Those of sentences that are
/// not in the corpus are of a build by g++ for AVX-512: another compiler or instruction set rounds
/// otherwise, which a hundred epochs of training amplify.
void check_shown_translations() {
#if defined(__clang__)
    MESSAGE("not run: the page shows what a build by g++ translates");
    return;
#endif
    run("./translator train --data '" + (kRoot / "models/transformer/corpus.tsv").string() +
        "' --weights shown --epochs 100 > /dev/null 2>&1");
    const std::string page = read(kRoot / "README.md");
    std::vector<std::string> sentences = {"I am tired."};
    if (fovea::runtime::machine_has("avx512"))
        sentences.insert(sentences.end(), {"She reads a book.", "She is my sister."});
    else MESSAGE("not compared: what the page shows of other sentences is of AVX-512");
    for (const std::string& sentence : sentences) {
        run("printf '%-28s ' '" + sentence + "' > lines; ./translator translate --weights shown '" +
            sentence + "' >> lines");
        const std::string line = read(kFolder / "lines");
        CHECK_MESSAGE(page.find(line) != page.npos, line);
    }
}

}  // namespace

TEST_CASE("the demo's first ten losses, the same bits with any number of threads") {
    fs::create_directories(kFolder);
    run("'" + (kBinary / "fovea").string() +
        "' build transformer -o translator --isa native --set hidden=64 --set ffn=128 "
        "--set heads=4 --set layers=2 --set dropout=0.1");
    const std::vector<double> losses = train_losses(2, "two");
    REQUIRE(losses.size() == 10);
    for (int threads : {1, 3}) {
        CHECK(train_losses(threads, "other") == losses);
        CHECK(read(kFolder / "other") == read(kFolder / "two"));
    }
    check_translations();
    check_shown_translations();
    if (fovea::test::updates_golden_files())
        return fovea::test::check_golden("demo/first_ten_losses.txt", text_of(losses));
    // Another instruction set rounds otherwise, and Adam, which divides gradients of almost nothing
    // by their size, turns that into up to a percent each epoch.
    std::istringstream expected(read(kRoot / "tests/golden/demo/first_ten_losses.txt"));
    for (std::size_t epoch = 0; epoch < losses.size(); ++epoch) {
        double value = 0;
        REQUIRE(bool(expected >> value));
        CHECK(std::abs(losses[epoch] - value) < 1e-2 * double(epoch + 1) * value);
    }
}
