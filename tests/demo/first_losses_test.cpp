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

#include "runtime/json.h"
#include "tests/golden.h"

namespace {

namespace fs = std::filesystem;

const fs::path kSource = FOVEA_SOURCE_DIR, kBinary = FOVEA_BINARY_DIR;
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
std::vector<double> train(int threads, const std::string& name) {
    fs::remove(kFolder / (name + ".jsonl"));
    run("./translator train --data '" + (kSource / "models/transformer/corpus.tsv").string() +
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

}  // namespace

TEST_CASE("the demo's first ten losses, the same bits with any number of threads") {
    fs::create_directories(kFolder);
    run("'" + (kBinary / "fovea").string() +
        "' build transformer -o translator --set hidden=64 --set ffn=128 --set heads=4 "
        "--set layers=2 --set dropout=0.1");
    const std::vector<double> losses = train(2, "two");
    REQUIRE(losses.size() == 10);
    for (int threads : {1, 3}) {
        CHECK(train(threads, "other") == losses);
        CHECK(read(kFolder / "other") == read(kFolder / "two"));
    }
    if (fovea::test::updates_golden_files())
        return fovea::test::check_golden("demo/first_ten_losses.txt", text_of(losses));
    // Without fused multiply-add the rounding differs, and Adam turns that into some percent.
    std::istringstream expected(read(kSource / "tests/golden/demo/first_ten_losses.txt"));
    for (double loss : losses) {
        double value = 0;
        REQUIRE(bool(expected >> value));
        CHECK(std::abs(loss - value) < 5e-2 * value);
    }
}
