// Sets of characters, normal forms and clusters, where they are known by heart.
#include "../../../runtime/tokens/unicode/unicode.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "../../../runtime/tokens/unicode/graphemes.h"
#include "../../../runtime/tokens/unicode/normal_forms.h"
#include "../../random_seed.h"

using namespace fovea::runtime::tokens;

namespace {

std::vector<std::string> clusters(const std::string& text) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = grapheme_end(text, at);
        found.push_back(text.substr(at, end - at));
        at = end;
    }
    return found;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("sets follow the algebra of sets") {
    std::mt19937 random(fovea::test::random_seed());
    const auto draw = [&] { return char32_t(random() % 300); };
    for (int round = 0; round < 50; ++round) {
        CharacterSet a, b;
        std::set<char32_t> in_a, in_b;
        for (int i = 0; i < 12; ++i) {
            const char32_t first = draw(), last = first + draw() % 9;
            const bool to_a = random() % 2 == 0;
            (to_a ? a : b).add(first, last);
            for (char32_t c = first; c <= last; ++c) (to_a ? in_a : in_b).insert(c);
        }
        CharacterSet both = a;
        both.add(b);
        const CharacterTable table(a);
        const CharacterSet outside = a.complement(), shared = a.intersection(b),
                           rest = a.without(b);
        for (char32_t c = 0; c < 400; ++c) {
            const bool x = in_a.contains(c), y = in_b.contains(c);
            const bool holds = a.contains(c) == x && table.contains(c) == x &&
                               both.contains(c) == (x || y) && outside.contains(c) == !x &&
                               shared.contains(c) == (x && y) && rest.contains(c) == (x && !y);
            if (!holds) FAIL("at ", std::uint32_t(c));
        }
    }
}

TEST_CASE("every character has one general category") {
    std::size_t count = 0;
    CharacterSet all;
    for (const char* name : {"L", "M", "N", "P", "S", "Z", "C"}) {
        const CharacterSet set = property(name).value();
        CHECK(set.intersection(all).ranges().empty());
        all.add(set);
        ++count;
    }
    CHECK(count == 7);
    CHECK(all.complement().ranges().empty());
    CHECK(property("Lu")->contains('A'));
    CHECK(property("Letter")->ranges() == property("L")->ranges());
    CHECK(property("Han")->contains(U'漢'));
    CHECK_FALSE(property("Letters").has_value());
}

TEST_CASE("characters are what they are") {
    CHECK(is_white_space(0x3000));
    CHECK_FALSE(is_white_space(0x200B));
    CHECK(is_punctuation('$'));  // one of BERT's
    CHECK(is_punctuation(U'。'));
    CHECK(is_word('_'));
    CHECK(is_numeric(U'½'));
    CHECK(is_control(0x200B));
    CHECK_FALSE(is_control('a'));
    CHECK(lower_case_of(U'Ä') == U'ä');
    CHECK(lower_case_of(U'ẞ') == U'ß');
    CHECK(lower_case_of(0xA7CB) == 0x264);  // of Unicode 16
}

TEST_CASE("normal forms take apart and compose") {
    const std::string text = "é \u212B \uFB01 각 \u1E9B\u0323 q\u0307\u0323";
    CHECK(normal_form(text, NormalForm::nfd) ==
          "e\u0301 A\u030A \uFB01 \u1100\u1161\u11A8 \u017F\u0323\u0307 q\u0323\u0307");
    CHECK(normal_form(text, NormalForm::nfc) == "é Å \uFB01 각 \u1E9B\u0323 q\u0323\u0307");
    CHECK(normal_form(text, NormalForm::nfkd) ==
          "e\u0301 A\u030A fi \u1100\u1161\u11A8 s\u0323\u0307 q\u0323\u0307");
    CHECK(normal_form(text, NormalForm::nfkc) == "é Å fi 각 ṩ q\u0323\u0307");
    CHECK(normal_form("\u1100\u1161\u11A8", NormalForm::nfc) == "각");
    CHECK(normal_form("\u0958", NormalForm::nfc) == "\u0915\u093C");  // one that never composes
    CHECK(normal_form("plain", NormalForm::nfkc) == "plain");
}

TEST_CASE("clusters are what readers take for a letter") {
    CHECK(clusters("ae\u0301\r\n\n") == Texts{"a", "e\u0301", "\r\n", "\n"});
    CHECK(clusters("🇩🇪🇫🇷🇯") == Texts{"🇩🇪", "🇫🇷", "🇯"});
    CHECK(clusters("👩‍👩‍👧👍🏽x") == Texts{"👩‍👩‍👧", "👍🏽", "x"});
    CHECK(clusters("\u1100\u1161\u11A8각ᄀ") == Texts{"\u1100\u1161\u11A8", "각", "ᄀ"});
    CHECK(clusters("क्षि") == Texts{"क्षि"});
}
