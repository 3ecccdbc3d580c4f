// Bytes as tokens, and what weights say of theirs.
#include "../../../runtime/language/text_tokens.h"

#include <doctest/doctest.h>

#include "../../../runtime/error.h"
#include "../temporary_folder.h"

using namespace fovea::runtime;

namespace {

const char* const kWords =
    R"({"version": "1.0", "added_tokens": [], "normalizer": null, "post_processor": null,
        "decoder": null, "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}})";

std::optional<TextTokens> read_back(const Metadata& metadata) {
    const fovea::test::TemporaryFolder folder;
    write_safetensors(folder.file("w"), {}, metadata);
    SafetensorsFile file = read_safetensors(folder.file("w"));
    file.rename("w");
    return TextTokens::of_weights(file);
}

}  // namespace

TEST_CASE("bytes are ids, whatever they are, and texts again") {
    const TextTokens bytes = TextTokens::of_bytes();
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
    const std::vector<std::int32_t> ids = bytes.encode(all);
    REQUIRE(ids.size() == 256);
    for (int byte = 0; byte < 256; ++byte) CHECK(ids[static_cast<std::size_t>(byte)] == byte);
    const std::string text = "  Ça va,\n\t一 <s> ok?\r\n";
    CHECK(bytes.tokenizer().encode(text) == bytes.encode(text));
    CHECK(bytes.tokenizer().decode(bytes.encode(text)) == text);
    CHECK(bytes.size() == 256);
    CHECK(bytes.tokenizer().size() == 256);
    tokens::TextStream stream(bytes.tokenizer());
    std::string streamed;
    for (const std::int32_t id : bytes.encode(text)) streamed += stream.add(id);
    CHECK(streamed + stream.finish() == text);
}

TEST_CASE("a file that is not UTF-8 is told by its path where its tokenizer takes text alone") {
    const fovea::test::TemporaryFolder folder;
    write_file_atomically(folder.file("tokenizer.json"), std::string(kWords));
    const TextTokens words = TextTokens::of_tokenizer(folder.file("tokenizer.json"));
    const std::string text = folder.file("text");
    write_file_atomically(text, std::string("caf\xE9"));
    CHECK_THROWS_WITH_AS(
        words.read_text(text),
        ("'" + text + "' is not UTF-8 at byte 4, which its tokenizer needs: save it as UTF-8")
            .c_str(),
        UserError);
    CHECK(TextTokens::of_bytes().read_text(text) == "caf\xE9");
    write_file_atomically(text, std::string("a b"));
    CHECK(words.read_text(text) == "a b");
    write_file_atomically(text, std::string());
    CHECK_THROWS_WITH_AS(words.read_text(text),
                         ("'" + text + "' is empty: it should have a text").c_str(), UserError);
    write_file_atomically(folder.file("bad.json"), std::string("\xEF\xBB\xBF{}"));
    const std::string path = folder.file("bad.json");
    CHECK_THROWS_WITH_AS(
        TextTokens::of_tokenizer(path),
        ("'" + path +
         "' is no JSON: line 1, column 1: a byte order mark stands before the text: "
         "save it as UTF-8 without one")
            .c_str(),
        UserError);
}

TEST_CASE("weights say what tokens they were trained on") {
    CHECK(read_back(TextTokens::of_bytes().metadata()) == TextTokens::of_bytes());
    const fovea::test::TemporaryFolder folder;
    write_file_atomically(folder.file("tokenizer.json"), std::string(kWords));
    const TextTokens words = TextTokens::of_tokenizer(folder.file("tokenizer.json"));
    CHECK(words.encode("b a b") == std::vector<std::int32_t>{1, 0, 1});
    const std::optional<TextTokens> read = read_back(words.metadata());
    CHECK(read == words);
    CHECK_FALSE(read == TextTokens::of_bytes());
    CHECK(read->encode("b c") == std::vector<std::int32_t>{1, 0});
    CHECK_FALSE(read_back({}));
    CHECK_THROWS_WITH_AS(read_back({{"tokens", "words"}}),
                         "'w': tokens in its __metadata__ is 'words', but should be bytes or "
                         "tokenizer.json",
                         UserError);
}
