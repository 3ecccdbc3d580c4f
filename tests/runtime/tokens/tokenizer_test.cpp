// What a tokenizer.json may ask for, and what is refused, with the file and the place in it.
#include "../../../runtime/tokens/tokenizer.h"

#include <doctest/doctest.h>

#include "../../../runtime/error.h"

using namespace fovea::runtime::tokens;
using fovea::runtime::UserError;

namespace {

using Ids = std::vector<std::int32_t>;

/// A file of the given members, with a model of a few words unless they have another.
std::string json_of(const std::string& members) {
    const std::string model = R"("model":{"type":"WordLevel","unk_token":"?",)"
                              R"("vocab":{"?":0,"a":1,"b":2,"ab":3}})";
    const bool has_model = members.find("\"model\"") != members.npos;
    return "{" + members + (has_model ? "" : (members.empty() ? "" : ",") + model) + "}";
}

JsonTokenizer tokenizer_of(const std::string& members) {
    return JsonTokenizer::from_json(json_of(members), "t.json");
}

std::string refusal_of(const std::string& json) {
    try {
        JsonTokenizer::from_json(json, "t.json");
    } catch (const UserError& error) {
        return error.what();
    }
    return "taken";
}

std::string refusal(const std::string& members) { return refusal_of(json_of(members)); }

}  // namespace

TEST_CASE("a file without steps takes the text whole") {
    const JsonTokenizer tokenizer = tokenizer_of("");
    CHECK(tokenizer.encode("ab") == Ids{3});
    CHECK(tokenizer.encode("a b") == Ids{0});
    CHECK(tokenizer.encode("") == Ids{});
    CHECK(tokenizer.decode(Ids{1, 2}) == "a b");
    CHECK(tokenizer.size() == 4);
}

TEST_CASE("text that is not UTF-8 is refused") {
    const JsonTokenizer tokenizer = tokenizer_of("");
    CHECK_THROWS_WITH_AS(tokenizer.encode("ab\xFF"), "the text is not UTF-8 at byte 3", UserError);
    CHECK_THROWS_WITH_AS(tokenizer.encode("\xE6\x97"), "the text is not UTF-8 at byte 1",
                         UserError);
}

TEST_CASE("merges are lines or pairs") {
    const std::string head = R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":)";
    CHECK(tokenizer_of(head + R"([["a","b"]]})").encode("abbab") == Ids{2, 1, 2});
    CHECK(tokenizer_of(head + R"(["#version: 0.2","a b"]})").encode("abbab") == Ids{2, 1, 2});
    CHECK(refusal(head + R"([["a","c"]]})") ==
          "'t.json': model.merges[0] has 'c', which model.vocab lacks");
    CHECK(refusal(head + R"(["ab"]})") ==
          "'t.json': model.merges[0] is 'ab', no two tokens with a space between them");
    CHECK(refusal(head + R"(["b a"]})") ==
          "'t.json': model.merges[0] has 'ba', which model.vocab lacks");
}

TEST_CASE(
    "white space goes with added tokens that strip it, and words hold none that stand alone") {
    const JsonTokenizer tokenizer =
        tokenizer_of(R"("pre_tokenizer":{"type":"WhitespaceSplit"},"added_tokens":[)"
                     R"({"id":4,"content":"<m>","lstrip":true,"rstrip":true,"special":true},)"
                     R"({"id":5,"content":"x","single_word":true,"normalized":false}])");
    CHECK(tokenizer.encode("a  <m> b") == Ids{1, 4, 2});
    CHECK(tokenizer.encode("ax x,b") == Ids{0, 5, 0});
    CHECK(tokenizer.decode(Ids{1, 4, 2}) == "a b");
    CHECK(tokenizer.decode(Ids{1, 4, 2}, Special::with) == "a <m> b");
    CHECK(tokenizer.size() == 6);
}

TEST_CASE("white space that went with an added token is no token again") {
    const JsonTokenizer tokenizer =
        tokenizer_of(R"("added_tokens":[{"id":4,"content":" ","lstrip":true,"rstrip":true}])");
    CHECK(tokenizer.encode("  a") == Ids{4, 1});
    CHECK(tokenizer.encode("a  b") == Ids{1, 4, 2});
}

// The ids are those of tokenizers 0.23.3.
TEST_CASE("all that comes from the first character starts where the text starts") {
    const auto ids = [](const std::string& normalizer, const char* text) {
        return tokenizer_of(normalizer +
                            R"("model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"a":1,)"
                            R"("b":2,"ab":3,"▁":4,"▁a":5,"▁b":6,"X":7,"▁X":8,"c":9}},)"
                            R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[)"
                            R"({"type":"FixedLength","length":1},{"type":"Metaspace",)"
                            R"("replacement":"▁","prepend_scheme":"first","split":false}]},)"
                            R"("added_tokens":[{"id":9,"content":"c","normalized":false}])")
            .encode(text);
    };
    const std::string prepend = R"("normalizer":{"type":"Prepend","prepend":"X"},)";
    CHECK(ids(prepend, "ab") == Ids{8, 5, 2});
    CHECK(ids(prepend, "") == Ids{});
    CHECK(ids(prepend, "acb") == Ids{8, 5, 9, 7, 2});
    CHECK(ids(prepend, "cb") == Ids{9, 7, 2});
    const std::string replace =
        R"("normalizer":{"type":"Replace","pattern":{"String":"a"},"content":"bX"},)";
    CHECK(ids(replace, "ab") == Ids{6, 8, 2});
    CHECK(ids(replace, "ba") == Ids{6, 2, 7});
    CHECK(ids(R"("normalizer":{"type":"NFKD"},)", "ª³") == Ids{5, 0});
    const std::string strip =
        R"("normalizer":{"type":"Strip","strip_left":true,"strip_right":false},)";
    CHECK(ids(strip, "ab") == Ids{5, 2});
    CHECK(ids(strip, " ab") == Ids{1, 2});
}

TEST_CASE("scores decide between the cuts of a unigram model") {
    const JsonTokenizer tokenizer = tokenizer_of(
        R"("model":{"type":"Unigram","unk_id":0,"vocab":[["?",0],["a",-1],["b",-1],["ab",-1.5],)"
        R"(["abb",-4]]})");
    CHECK(tokenizer.encode("abb") == Ids{3, 2});
    CHECK(tokenizer.encode("axyb") == Ids{1, 0, 2});  // what is unknown is one token
}

TEST_CASE("what a file asks for and is not here is refused with its place") {
    CHECK(refusal(
              R"("normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"X"}]})") ==
          "'t.json': normalizer.normalizers[1].type is 'X', a normalizer without code here");
    CHECK(refusal(R"("pre_tokenizer":{"type":"UnicodeScripts"})") ==
          "'t.json': pre_tokenizer.type is 'UnicodeScripts', a pre-tokenizer without code here");
    CHECK(refusal(R"("decoder":{"type":"X"})") ==
          "'t.json': decoder.type is 'X', a decoder without code here");
    CHECK(refusal(R"("post_processor":{"type":"X"})") ==
          "'t.json': post_processor.type is 'X', a post-processor without code here");
    CHECK(refusal(R"("model":{"type":"X","vocab":{}})") ==
          "'t.json': model.type is 'X', a model without code here");
    CHECK(refusal(R"("model":{"type":"BPE","dropout":0.1,"vocab":{},"merges":[]})") ==
          "'t.json': model.dropout asks for pieces at random, which are not made here");
    CHECK(refusal(R"("version":"2.0")") == "'t.json': version is '2.0', and 1.0 is known");
    CHECK(refusal(R"("pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a)\\1"},)"
                  R"("behavior":"Isolated"})") ==
          "'t.json': pre_tokenizer.pattern.Regex is not taken: the pattern '(a)\\1' has at byte 5 "
          "an escape that has no meaning here, which is not taken");
}

TEST_CASE("a file that is none is refused with what is wrong in it") {
    CHECK(refusal_of("{") ==
          "'t.json' is no JSON: line 1, column 2: expected a key in quotes, found the end of the "
          "text");
    CHECK(refusal_of("[]") == "'t.json': the file is an array, and an object is expected");
    CHECK(refusal_of("{}") == "'t.json': the file has no 'model'");
    CHECK(refusal(R"("model":{"type":"Unigram","unk_id":2,"vocab":[["a",0]]})") ==
          "'t.json': model.unk_id is 2, and the vocabulary has 1 tokens");
    CHECK(refusal(R"("model":{"type":"WordLevel","unk_token":"?","vocab":{"a":0,"b":0}})") ==
          "'t.json': model.vocab gives 'a' and 'b' the same id 0");
    CHECK(refusal(R"("model":{"type":"WordLevel","unk_token":"?","vocab":{"a":-1}})") ==
          "'t.json': model.vocab gives 'a' no id from 0 to 10000000");
    CHECK(refusal(R"("added_tokens":[{"id":7,"content":"x"}])") ==
          "'t.json': added_tokens[0].id is 7, and the next id that is free is 4");
    CHECK(refusal(R"("added_tokens":[{"id":7,"content":"a"}])") ==
          "'t.json': added_tokens[0].id is 7, and model.vocab gives 'a' the id 1");
    CHECK(refusal(R"("normalizer":{"type":"Precompiled","precompiled_charsmap":"AAA"})") ==
          "'t.json': normalizer.precompiled_charsmap is not in base 64");
    CHECK(refusal(R"("normalizer":{"type":"Strip","strip_left":1,"strip_right":true})") ==
          "'t.json': normalizer.strip_left is an integer, and true or false is expected");
    CHECK(refusal(R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":)"
                  R"({"id":"[CLS]"}}],"special_tokens":{}})") ==
          "'t.json': post_processor.single[0].SpecialToken.id is '[CLS]', which special_tokens "
          "lacks");
}

TEST_CASE("a model that lacks a token for what is unknown says so") {
    const JsonTokenizer words =
        tokenizer_of(R"("model":{"type":"WordLevel","unk_token":"?","vocab":{"a":0}})");
    CHECK_THROWS_WITH_AS(words.encode("b"),
                         "the tokenizer has no token for 'b', nor its '?' for what is unknown",
                         UserError);
    const JsonTokenizer pairs =
        tokenizer_of(R"("model":{"type":"BPE","vocab":{"a":0},"merges":[]})");
    CHECK(pairs.encode("abca") == Ids{0, 0});  // as the package has it
}
