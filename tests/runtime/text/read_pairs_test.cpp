// What a file of pairs may look like, and how each mistake in it is reported.
#include "../../../runtime/text/read_pairs.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "../../../runtime/error.h"

using namespace fovea::runtime;

TEST_CASE("one pair a line; attribution, byte order mark, CRLF and blank lines don't matter") {
    const auto pairs = parse_pairs(
        "\xEF\xBB\xBFGo.\tVa !\tCC-BY 2.0 (France) #2877272\r\n\nHi.\tSalut "
        "!\n\r\nRun!\tCours\u202f!",
        "f.tsv");
    REQUIRE(pairs.size() == 3);
    CHECK(pairs[0].source == "Go.");
    CHECK(pairs[0].target == "Va !");
    CHECK(pairs[1].target == "Salut !");
    CHECK(pairs[2].target == "Cours\u202f!");
}

TEST_CASE("the limit counts pairs, and what follows is not looked at") {
    CHECK(parse_pairs("a\tb\n\nc\td\nbroken\n", "f.tsv", 2).size() == 2);
}

TEST_CASE("mistakes name the file and the line") {
    CHECK_THROWS_WITH_AS(parse_pairs("a\tb\nbroken\n", "f.tsv"),
                         "f.tsv:2: one column, but a pair is a sentence, a tab and its translation",
                         UserError);
    CHECK_THROWS_WITH_AS(parse_pairs("a\tb\n\ncaf\xE9\td\n", "f.tsv"),
                         "f.tsv:3: not UTF-8 at byte 4 of the line; convert the file to UTF-8",
                         UserError);
    CHECK_THROWS_WITH_AS(parse_pairs("", "f.tsv"),
                         "'f.tsv' holds no pair; a line is a sentence, a tab and its translation",
                         UserError);
    CHECK_THROWS_AS(parse_pairs("\n\n", "f.tsv"), UserError);
}

TEST_CASE("a file that can't be read is the user's mistake") {
    CHECK_THROWS_WITH_AS(read_pairs("no-such-file.tsv"),
                         "cannot read 'no-such-file.tsv': No such file or directory", UserError);
    CHECK_THROWS_AS(read_pairs(std::filesystem::temp_directory_path().string()), UserError);
}

TEST_CASE("a file is read whole") {
    const auto path = std::filesystem::temp_directory_path() / "fovea_read_pairs_test.tsv";
    {
        std::ofstream file(path, std::ios::binary);
        for (int i = 0; i < 20000; ++i) file << "source " << i << "\ttarget " << i << "\n";
    }
    const auto pairs = read_pairs(path.string());
    CHECK(pairs.size() == 20000);
    CHECK(pairs.back().target == "target 19999");
    CHECK(read_pairs(path.string(), 600).size() == 600);
    std::filesystem::remove(path);
}
