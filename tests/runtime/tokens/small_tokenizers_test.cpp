// Small tokenizers of each kind and what the package `tokenizers` made of a few texts
// (tests/tokens/make_small.py).
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "../../tokens/alike.h"

using fovea::runtime::Json;
using fovea::runtime::tokens::JsonTokenizer;
using fovea::runtime::tokens::Special;
using fovea::test::each_json_line;
using fovea::test::is_alike;

namespace {

const std::string kSmall = FOVEA_SOURCE_DIR "/tests/golden/tokens/";

bool ends_whole(const std::string& text) {
    // The last character's bytes are all there.
    std::size_t at = text.size(), bytes = 0;
    while (at > 0 && bytes < 4 && (text[at - 1] & 0xC0) == 0x80) --at, ++bytes;
    if (at == 0) return bytes == 0;
    const auto first = static_cast<unsigned char>(text[at - 1]);
    return bytes == (first < 0x80 ? 0u : first < 0xE0 ? 1u : first < 0xF0 ? 2u : 3u);
}

}  // namespace

TEST_CASE("small tokenizers give the ids and texts of the package tokenizers") {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(kSmall))
        if (entry.path().extension() == ".json") files.insert(entry.path().stem().string());
    CHECK(files.size() == 10);
    for (const std::string& name : files) {
        const JsonTokenizer tokenizer = JsonTokenizer::read(kSmall + name + ".json");
        std::size_t lines = 0;
        CHECK(each_json_line(kSmall + name + ".jsonl", [&](const Json::Array& line) {
            ++lines;
            CHECK_MESSAGE(is_alike(tokenizer, line), name << ": " << Json(line).text());
        }));
        CHECK(lines > 10);
    }
}

TEST_CASE("a stream never gives a part of a character") {
    for (const char* name : {"gpt2", "llama2", "gemma"}) {
        const JsonTokenizer tokenizer = JsonTokenizer::read(kSmall + name + ".json");
        const std::string text = "日本語 👩‍👩‍👧 é नमस्ते.";
        fovea::runtime::tokens::TextStream stream(tokenizer);
        std::string all;
        const std::vector<std::int32_t> ids = tokenizer.encode(text);
        for (const std::int32_t id : ids) {
            const std::string part = stream.add(id);
            CHECK(ends_whole(part));
            all += part;
        }
        CHECK(all == tokenizer.decode(ids));
        CHECK(stream.finish().empty());
    }
}

TEST_CASE("a stream gives what is left of a character at its end") {
    const JsonTokenizer tokenizer = JsonTokenizer::read(kSmall + "gpt2.json");
    std::vector<std::int32_t> ids = tokenizer.encode("a日");
    ids.pop_back();
    fovea::runtime::tokens::TextStream stream(tokenizer);
    std::string text;
    for (const std::int32_t id : ids) text += stream.add(id);
    CHECK(text == "a");
    CHECK(stream.finish() == "\uFFFD");
    CHECK(tokenizer.decode(ids) == "a\uFFFD");
}

TEST_CASE("threads share a tokenizer") {
    const JsonTokenizer tokenizer = JsonTokenizer::read(kSmall + "llama3.json");
    const std::string text = "The quick brown fox jumps over the lazy dog, and so on.";
    const std::vector<std::int32_t> ids = tokenizer.encode(text);
    std::vector<std::thread> threads;
    std::vector<int> alike(4);
    for (int& count : alike)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) count += tokenizer.encode(text) == ids;
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(alike == std::vector<int>(4, 200));
}

TEST_CASE("tokens have ids, and ids tokens") {
    const JsonTokenizer tokenizer = JsonTokenizer::read(kSmall + "bert_uncased.json");
    CHECK(tokenizer.id_of("[CLS]") == 2);
    CHECK(tokenizer.token_of(2) == "[CLS]");
    CHECK(tokenizer.is_special(2));
    const std::int32_t a = tokenizer.id_of("a").value();
    CHECK_FALSE(tokenizer.is_special(a));
    CHECK_FALSE(tokenizer.id_of("no such token").has_value());
    CHECK_FALSE(tokenizer.token_of(-1).has_value());
    CHECK_FALSE(tokenizer.token_of(1'000'000).has_value());
    const auto size = static_cast<std::int32_t>(tokenizer.size());
    CHECK(tokenizer.token_of(size - 1).has_value());
    CHECK_FALSE(tokenizer.token_of(size).has_value());
    const std::vector<std::int32_t> ids = {2, a, 1'000'000, -5, 3};
    CHECK(tokenizer.decode(ids) == "a");
    CHECK(tokenizer.decode(ids, Special::with) == "[CLS] a [SEP]");
}

TEST_CASE("the page's code gives back the text") {
    namespace tokens = fovea::runtime::tokens;
    const std::string path = kSmall + "gpt2.json";
    std::ostringstream out;
    const auto tokenizer = tokens::JsonTokenizer::read(path);
    const std::vector<std::int32_t> ids = tokenizer.encode("Hello, world!");
    tokens::TextStream stream(tokenizer);
    for (const std::int32_t id : ids) out << stream.add(id);  // never a part of a character
    out << stream.finish();
    CHECK(out.str() == "Hello, world!");
}
