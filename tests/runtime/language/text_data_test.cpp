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
