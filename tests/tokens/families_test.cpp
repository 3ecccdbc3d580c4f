// Tokenizers like those of known models, learnt by the package `tokenizers`, and others of steps
// drawn at random: the same ids and texts as that package gives, on ordinary and on random texts.
// FOVEA_TEXTS=4000 compares so many of each.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "runtime/tokens/tokenizer.h"
#include "tests/random_seed.h"
#include "tests/tokens/alike.h"
#include "tests/tokens/python_tokenizers.h"

using namespace fovea::test;
using fovea::runtime::Json;
using fovea::runtime::tokens::JsonTokenizer;

namespace fs = std::filesystem;

TEST_CASE("texts have the ids that the package tokenizers gives them, and come back") {
    const fovea::tool::TemporaryFolder folder;
    const std::string seed = std::to_string(random_seed());
    if (!run_script("make_cases.py",
                    {folder.path().string(), "--seed", seed, "--count", text_count("40")}))
        return;
    std::size_t texts = 0, misses = 0;
    std::set<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder.path()))
        if (entry.path().extension() == ".json") files.insert(entry.path());
    CHECK(files.size() > 40);
    for (const fs::path& file : files) {
        const JsonTokenizer tokenizer = JsonTokenizer::read(file.string());
        std::size_t shown = 0;
        REQUIRE(each_json_line(
            fs::path(file).replace_extension(".jsonl").string(), [&](const Json::Array& line) {
                ++texts;
                if (is_alike(tokenizer, line)) return;
                ++misses;
                if (shown++ < 2) FAIL_CHECK(file.stem().string() << ": " << Json(line).text());
            }));
    }
    MESSAGE(texts << " texts of " << files.size() << " tokenizers compared, " << misses
                  << " differ");
    CHECK(misses == 0);
}
