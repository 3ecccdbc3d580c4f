// `fovea tokens`: texts to ids, to tokens and back, and what it refuses.
#include <doctest/doctest.h>

#include "tests/tools/run_fovea.h"

using fovea::test::run_fovea;

namespace {

const std::string kBert = FOVEA_SOURCE_DIR "/tests/golden/tokens/bert_uncased.json";

std::string printed(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"tokens", kBert});
    return run_fovea(arguments).output;
}

}  // namespace

TEST_CASE("tokens of a text are printed as ids and as texts, and ids as text") {
    CHECK(printed({"--text", "The fox", "--pieces"}).starts_with("[CLS] the"));
    CHECK(printed({"--text", "The fox", "--pieces"}).ends_with(" [SEP]\n"));
    const std::string ids = printed({"--text", "The fox", "--plain"});
    CHECK(printed({"--decode", "--text", ids}) == "the fox\n");
    CHECK(printed({"--decode", "--plain", "--text", "2 3"}) == "\n");
    CHECK(printed({"--decode", "--text", "2 3"}) == "[CLS] [SEP]\n");
}

TEST_CASE("tokens says what it does not take") {
    CHECK(run_fovea({"tokens"}).output == "fovea: expected a file: fovea tokens tokenizer.json\n");
    CHECK(printed({"--decode", "--text", "2 x"}) ==
          "fovea: --decode expects ids, whole numbers with spaces between them, and got 'x'\n");
    CHECK(printed({"--decode", "--pieces"}) ==
          "fovea: --pieces is of texts, and --decode of ids: leave out one of them\n");
    CHECK(run_fovea({"tokens", "none.json"}).output ==
          "fovea: cannot read 'none.json': No such file or directory\n");
    CHECK(printed({"--text", "a\xFF"}) == "fovea: the text is not UTF-8 at byte 2\n");
}
