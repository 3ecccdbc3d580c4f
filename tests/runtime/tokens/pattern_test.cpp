// Patterns: what they match, what they refuse, and that none takes forever.
#include "../../../runtime/tokens/pattern/pattern.h"

#include <doctest/doctest.h>

#include "../../../runtime/error.h"

using namespace fovea::runtime::tokens;
using fovea::runtime::UserError;

namespace {

using Words = std::vector<std::string>;

Words found(const std::string& pattern, const std::string& text) {
    Words words;
    for (const PatternMatch& match : Pattern(pattern).matches(text))
        words.push_back(text.substr(match.begin, match.end - match.begin));
    return words;
}

std::string refused(const std::string& pattern) {
    try {
        const Pattern one(pattern);
    } catch (const UserError& error) {
        return error.what();
    }
    return "taken";
}

}  // namespace

TEST_CASE("patterns take the first alternative that leads to a match") {
    CHECK(found("a|ab", "ab") == Words{"a"});
    CHECK(found("(a|ab)c", "abc") == Words{"abc"});
    CHECK(found("a{2,3}", "aaaaaa a") == Words{"aaa", "aaa"});
    CHECK(found("a{2,3}?", "aaaaa") == Words{"aa", "aa"});
    CHECK(found("a++a", "aaa") == Words{});
    CHECK(found("(?>a|ab)c", "abc") == Words{});
    CHECK(found("(?i:'s|'LL)", "it'S we'll 's '\u017F") == Words{"'S", "'ll", "'s", "'\u017F"});
    CHECK(found("\\s+(?!\\S)|\\s+", "a  b ") == Words{" ", " ", " "});
    CHECK(found("[\\p{Lu}&&[^A]]", "ABÄ") == Words{"B", "Ä"});
    CHECK(found("[^\\s\\p{L}\\p{N}]+", "日本、。x!?") == Words{"、。", "!?"});
    CHECK(found("{2}", "a{2}") == Words{"{2}"});
    CHECK(found("(?<=a)b", "ab bb") == Words{"b"});
    CHECK(found("^.|.$", "ab\ncd") == Words{"a", "b", "c", "d"});
}

TEST_CASE("an empty match stands where no other ended") {
    CHECK(Pattern("a*").matches("baa") == std::vector<PatternMatch>{{0, 0}, {1, 3}});
    CHECK(Pattern("").matches("ab") == std::vector<PatternMatch>{{0, 0}, {1, 1}, {2, 2}});
    CHECK(Pattern::of_text("").matches("ab").empty());
    CHECK(Pattern::of_text("aa").matches("aaaaa") == std::vector<PatternMatch>{{0, 2}, {2, 4}});
}

TEST_CASE("what patterns do not take is said with its place") {
    CHECK(refused("(a") ==
          "the pattern '(a' has at byte 2 a ( that nothing closes, which is not taken");
    CHECK(refused("[a") ==
          "the pattern '[a' has at byte 2 a [ that nothing closes, which is not taken");
    CHECK(refused("a)") ==
          "the pattern 'a)' has at byte 1 a ) that closes nothing, which is not taken");
    CHECK(refused("*a") ==
          "the pattern '*a' has at byte 0 a repeat of nothing, which is not taken");
    CHECK(refused("(a*)*") ==
          "the pattern '(a*)*' has at byte 5 a repeat of what may be empty, which is not taken");
    CHECK(refused("\\p{Klingon}") ==
          "the pattern '\\p{Klingon}' has at byte 3 a property without data "
          "here, which is not taken");
    CHECK(refused("[z-a]") ==
          "the pattern '[z-a]' has at byte 4 a range that is none, which is not taken");
    CHECK(refused("a{5000}") ==
          "the pattern 'a{5000}' has at byte 5 a repeat of more than 1000, which is not taken");
    CHECK(refused("(?i:[à-ö])") ==
          "the pattern '(?i:[à-ö])' has at byte 11 some letters outside of "
          "ASCII after (?i), which is not taken");
    CHECK(refused("(?i:[a-z&&s])") ==
          "the pattern '(?i:[a-z&&s])' has at byte 10 an intersection behind (?i), which is not "
          "taken");
}

TEST_CASE("a pattern that takes too long on a text is stopped") {
    const Pattern pattern("(a+)+b|(a+)+c");
    CHECK_THROWS_AS(pattern.matches(std::string(60, 'a')), UserError);
    CHECK(Pattern("\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+").matches(std::string(100'000, ' ')).size() == 1);
}
