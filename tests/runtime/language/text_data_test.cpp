// Texts as windows of tokens.
#include "../../../runtime/language/training/text_data.h"

#include <doctest/doctest.h>

#include "../../../runtime/error.h"

using namespace fovea::runtime;

namespace {

/// The windows' numbers of labels.
std::vector<std::int64_t> lengths_of(const std::vector<std::string>& texts, std::int64_t length,
                                     bool has_lengths) {
    const TextData data(TextTokens::of_bytes(), texts, length,
                        {.batch = "batch", .length = "len", .has_lengths = has_lengths});
    std::vector<std::int64_t> lengths;
    for (std::uint32_t i = 0; i < data.count(); ++i) lengths.push_back(data.tokens(i));
    return lengths;
}

std::uint64_t fingerprint(const std::vector<std::string>& texts, std::int64_t length) {
    return TextData(TextTokens::of_bytes(), texts, length, {"batch", "len", true}).fingerprint();
}

}  // namespace

TEST_CASE("each token behind the first is a label once") {
    using Lengths = std::vector<std::int64_t>;
    CHECK(lengths_of({"abcdefg"}, 3, true) == Lengths{3, 3});
    CHECK(lengths_of({"abcdefgh"}, 3, true) == Lengths{3, 3, 1});
    CHECK(lengths_of({"abcdefgh"}, 3, false) == Lengths{3, 3});
    CHECK(lengths_of({"abcd", "", "x", "efg"}, 3, true) == Lengths{3, 2});
    CHECK(lengths_of({"ab"}, 100, true) == Lengths{1});
    CHECK_THROWS_WITH_AS(lengths_of({"abc"}, 3, false),
                         "the data has 3 tokens, too few for a window of 3 and the token behind it",
                         UserError);
    CHECK_THROWS_AS(lengths_of({"x"}, 3, true), UserError);
}

TEST_CASE("the fingerprint tells texts apart, and where they are cut") {
    CHECK(fingerprint({"abcdefg"}, 3) == fingerprint({"abcdefg"}, 3));
    CHECK(fingerprint({"abcdefg"}, 3) != fingerprint({"abcdefh"}, 3));
    CHECK(fingerprint({"abcdefg"}, 3) != fingerprint({"abcdefg"}, 2));
    CHECK(fingerprint({"abcd", "efg"}, 3) != fingerprint({"abc", "defg"}, 3));
}

TEST_CASE("a token stands behind each text where one is given") {
    const TextData with(TextTokens::of_bytes(), {"ab", "c"}, 8, {"batch", "len", true}, 0);
    CHECK(with.count() == 2);
    CHECK(with.tokens(0) == 2);  // b and the end
    CHECK(with.tokens(1) == 1);
    const TextData without(TextTokens::of_bytes(), {"ab", "c"}, 8, {"batch", "len", true});
    CHECK(without.count() == 1);
    CHECK(with.fingerprint() != without.fingerprint());
    const TextTokens bytes = TextTokens::of_bytes();
    CHECK(read_token("10", "--end", nullptr) == 10);
    CHECK(read_token("a", "--end", &bytes) == 97);
    CHECK_THROWS_WITH_AS(read_token("</s>", "--end", &bytes),
                         "--end takes the number of a token or its name, not '</s>'", UserError);
    CHECK_THROWS_WITH_AS(read_token("a", "--stop", nullptr),
                         "--stop takes the number of a token, not 'a'", UserError);
}
