// Byte pairs against SentencePiece: its pieces, its sentences, its mistakes to refuse.
// `make_byte_pairs.py` wrote what is compared with.
#include "../../../runtime/text/byte_pair_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "../../../runtime/error.h"
#include "../../../runtime/text/preprocess.h"
#include "../temporary_folder.h"

using namespace fovea::runtime;
using Tokens = std::vector<std::string>;

namespace {

const std::string kFolder = FOVEA_SOURCE_DIR "/tests/golden/byte_pairs/";

void check_side(const std::string& name, TokenKind kind, const Vocabulary& vocabulary) {
    const Tokenizer tokenizer(kind, vocabulary, name);
    std::ifstream file(kFolder + name + ".tsv", std::ios::binary);
    REQUIRE(file.good());
    int count = 0;
    for (std::string line; std::getline(file, line); ++count) {
        const std::size_t tab = line.find('\t');
        REQUIRE(tab != std::string::npos);
        const std::string sentence = line.substr(0, tab);
        const Tokens tokens = tokenizer.tokens(sentence);
        CHECK(join_words(tokens) == line.substr(tab + 1));
        if (sentence.find("\u2581") != std::string::npos) continue;  // which stands for a space
        const std::string prepared =
            kind == TokenKind::byte_pairs ? preprocess(sentence) : sentence;
        CHECK(tokenizer.text(tokens) == join_words(split_words(prepared)));
    }
    CHECK(count > 100);
}

/// A vocabulary of these pieces behind the reserved ones.
Vocabulary vocabulary_of(const Tokens& pieces) {
    std::string json = R"(["<unk>","<pad>","<bos>","<eos>")";
    for (const std::string& piece : pieces) json += ",\"" + piece + "\"";
    return Vocabulary::from_json(json + "]", "test");
}

void check_refused(const std::string& text, const std::string& sentence) {
    const fovea::test::TemporaryFolder folder;
    const std::string path = folder.file("p.json");
    std::ofstream(path, std::ios::binary) << text;
    try {
        read_piece_file(path);
        FAIL("not refused: " << text);
    } catch (const UserError& error) {
        CHECK(std::string(error.what()) == "'" + path + "'" + sentence);
    }
}

std::string file_of(const std::string& source) {
    return R"({"tokens":"byte_pairs","source":["<unk>","<pad>","<bos>","<eos>")" + source +
           R"(],"target":["<unk>","<pad>","<bos>","<eos>","a"]})";
}

}  // namespace

TEST_CASE("sentences become SentencePiece's pieces, and pieces the sentences") {
    for (const std::string name : {"words", "cased"}) {
        const PieceFile file = read_piece_file(kFolder + name + ".json");
        CHECK((file.kind == TokenKind::byte_pairs) == (name == "words"));
        check_side(name + ".source", file.kind, file.source);
        check_side(name + ".target", file.kind, file.target);
    }
}

TEST_CASE("the earliest merge comes first, of equals the leftmost") {
    const Vocabulary pieces = vocabulary_of({"bc", "ab", "aa", "a", "b", "c", "▁"});
    const BytePairs pairs(pieces, "test");
    CHECK(pairs.encode("abc") == Tokens{"▁", "a", "bc"});
    CHECK(pairs.encode("aaa") == Tokens{"▁", "aa", "a"});
    CHECK(pairs.encode("a  b") == Tokens{"▁", "a", "▁", "▁", "b"});
    CHECK(pairs.encode("axyb") == Tokens{"▁", "a", "xy", "b"});
    CHECK(pairs.encode("").empty());
    CHECK(pieces.ids(pairs.encode("axyb")) == std::vector<std::int32_t>{10, 7, 0, 8});
}

TEST_CASE("a text of pieces is one line of UTF-8") {
    Tokens pieces;
    for (int byte = 0; byte < 256; ++byte) {
        const char* digits = "0123456789ABCDEF";
        pieces.push_back(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">");
    }
    pieces.push_back("a");
    const BytePairs pairs(vocabulary_of(pieces), "test");
    CHECK(pairs.decode({"▁", "a", "▁", "<0xC3>", "<0xA9>", "a"}) == "a éa");
    CHECK(pairs.decode({"a", "<0xC3>", "a", "<0xA9>", "<0xFF>"}) == "a\uFFFDa\uFFFD\uFFFD");
    CHECK(pairs.decode({"a", "<0x0A>", "a", "<unk>"}) == "a a<unk>");
    CHECK(pairs.encode("<0x41>").size() == 9);  // its characters' bytes, and the mark
}

TEST_CASE("words of tokens are d2l's") {
    const PieceFile file = read_piece_file(kFolder + "cased.json");
    const Tokenizer tokenizer(file.kind, file.target, "test");
    CHECK(tokenizer.words(tokenizer.tokens("Il est prêt !")) == Tokens{"il", "est", "prêt", "!"});
    CHECK(Tokenizer().words({"a", "B"}) == Tokens{"a", "B"});
    CHECK_THROWS_WITH_AS(tokenizer.tokens("caf\xE9"), "the sentence is not UTF-8 at byte 4",
                         UserError);
}

TEST_CASE("a file that holds no pieces is refused in one sentence") {
    CHECK_THROWS_WITH_AS(read_piece_file("nowhere.json"),
                         "cannot read 'nowhere.json': No such file or directory", UserError);
    check_refused("a\tb\n",
                  " is no file of pieces, as tools/learn_bpe.py writes them: line 1, column 1: "
                  "expected a value, found 'a'");
    check_refused("[]", " holds no JSON object, but a file of pieces is one");
    check_refused("{}",
                  " has no \"tokens\", but a file of pieces has \"tokens\", \"source\" and "
                  "\"target\"");
    check_refused(R"({"tokens":"words"})",
                  ": \"tokens\" should be byte_pairs or cased_byte_pairs, not \"words\"");
    check_refused(R"({"tokens":1})",
                  ": \"tokens\" should be byte_pairs or cased_byte_pairs, not 1");
    check_refused(R"({"tokens":"byte_pairs"})",
                  " has no \"source\", but a file of pieces has \"tokens\", \"source\" and "
                  "\"target\"");
    check_refused(file_of(""), ", source: no piece stands behind <unk> <pad> <bos> <eos>");
    check_refused(file_of(R"(,"a","b","a")"),
                  ", source: word 6 of the vocabulary is 'a', but the first are <unk> <pad> <bos> "
                  "<eos> and none stands twice");
    check_refused(file_of(R"(,"a",7)"), ", source: the vocabulary is not a list of words");
    check_refused(file_of(R"(,"a","")"), ", source: piece 5 is empty");
    check_refused(file_of(R"(,"a b")"),
                  ", source: piece 4, 'a b', holds white space; a space is written ▁");
    check_refused(file_of(R"(,"<0x00>","a")"),
                  ", source: piece 5 should be <0x01>: where bytes are pieces, all 256 are");
}

TEST_CASE("a piece that no merge gives is refused") {
    const std::string rest =
        "is not made of two pieces before it; the pieces should stand in the order of their "
        "merges, as tools/learn_bpe.py writes them";
    check_refused(file_of(R"(,"ab","a")"), ", source: piece 4, 'ab', " + rest);
    check_refused(file_of(R"(,"abc","ab","a","b","c")"), ", source: piece 4, 'abc', " + rest);
    CHECK_NOTHROW(BytePairs(vocabulary_of({"ab", "abc", "a", "b", "c"}), "test"));
}
