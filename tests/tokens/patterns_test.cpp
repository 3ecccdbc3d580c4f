// Regular expressions made at random cut texts where Oniguruma does, by way of `tokenizers`.
#include <doctest/doctest.h>

#include "runtime/error.h"
#include "runtime/tokens/steps/split.h"
#include "tests/random_seed.h"
#include "tests/tokens/alike.h"
#include "tests/tokens/python_tokenizers.h"

using namespace fovea::test;
using fovea::runtime::Json;
using fovea::runtime::UserError;
using fovea::runtime::tokens::Part;
using fovea::runtime::tokens::Pattern;

namespace {

Json pieces_of(const Pattern& pattern, const std::string& text) {
    Json::Array pieces;
    for (const Part& part : with_gaps(pattern.matches(text), text.size()))
        if (part.begin < part.end)
            pieces.emplace_back(text.substr(part.begin, part.end - part.begin));
    return pieces;
}

}  // namespace

TEST_CASE("random patterns cut random texts where the package tokenizers cuts them") {
    const fovea::tool::TemporaryFolder folder;
    const std::string file = (folder.path() / "patterns").string();
    if (!run_script("patterns.py",
                    {file, "--seed", std::to_string(random_seed()), "--count", text_count("400")}))
        return;
    std::size_t texts = 0, refused = 0;
    REQUIRE(each_json_line(file, [&](const Json::Array& line) {
        const std::string& source = line[0].string();
        try {
            const Pattern pattern(source);
            for (const Json& text : line[1].array()) {
                ++texts;
                const Json pieces = pieces_of(pattern, text.array()[0].string());
                CHECK_MESSAGE(pieces == text.array()[1],
                              source << " on " << text.text() << " gives " << pieces.text());
            }
        } catch (const UserError& error) {
            const std::string what = error.what();
            const bool is_fair = what.ends_with("which is not taken") ||
                                 what.ends_with("takes too many steps on this text");
            CHECK_MESSAGE(is_fair, source << ": " << what);
            ++refused;
        }
    }));
    MESSAGE(texts << " texts compared; " << refused << " patterns refused");
    CHECK(texts > 10 * refused);
}
