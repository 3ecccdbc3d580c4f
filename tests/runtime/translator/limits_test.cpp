// Every number on the command line has a range, and the ends of the ranges work.
#include <doctest/doctest.h>

#include "fake_model.h"
#include "run_translator.h"

using namespace fake;

namespace {

struct LimitsFixture {
    CurrentFolder folder;
    fovea::runtime::Model model = make_model();
    LimitsFixture() { write_text("pairs.tsv", "Go.\tVa !\nHi.\tSalut !\nRun!\tCours !\n"); }
    Result run(std::vector<std::string> arguments, const std::vector<std::string>& more) {
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_translator(model, std::move(arguments));
    }
};

const std::vector<std::string> kTrain = {"train", "--data",     "pairs.tsv", "--weights",
                                         "w",     "--min-freq", "1",         "--epochs=1"};

/// The options of a subcommand that take a number, from its help.
std::vector<std::string> number_options(const std::string& help) {
    std::vector<std::string> names;
    for (std::size_t at = 0; (at = help.find("\n  --", at)) != std::string::npos; ++at) {
        const std::size_t name = at + 5, end = help.find(' ', name);
        const std::string value = help.substr(end + 1, 2);
        if (value == "N " || value == "X ") names.push_back(help.substr(name, end - name));
    }
    return names;
}

}  // namespace

TEST_CASE("limits: a number that is too large for its option is told the range") {
    LimitsFixture f;
    for (const std::string command : {"train", "translate", "evaluate", "bench"}) {
        const auto names = number_options(run_translator(f.model, {command, "--help"}).out);
        REQUIRE(names.size() >= 5);
        for (const std::string& name : names) {
            for (const char* value : {"9223372036854775808", "1e39", "-1"}) {
                CAPTURE(name);
                CAPTURE(value);
                const bool is_number = name == "lr" || name == "clip" || name == "epsilon" ||
                                       name == "weight-decay" || name == "alpha";
                if (is_number && std::string(value) == "9223372036854775808") continue;
                const Result result = run_translator(f.model, {command, "--" + name, value});
                CHECK(result.status == 2);
                CHECK(result.err.find("translator: option '--" + name + "' expects a ") == 0);
                CHECK(result.err.find(" from ") != std::string::npos);
            }
        }
    }
    CHECK(file_names() == std::vector<std::string>{"pairs.tsv"});
}

TEST_CASE("limits: products of numbers do not run over") {
    LimitsFixture f;
    for (const std::vector<std::string>& refused :
         std::vector<std::vector<std::string>>{{"--batch=4294967296", "--accumulate=4294967296"},
                                               {"--batch=4611686018427387904", "--group-lengths=4"},
                                               {"--epochs", "4294967297"}}) {
        auto arguments = kTrain;
        arguments.pop_back();
        CHECK(f.run(arguments, refused).status == 2);
    }
    CHECK(f.run(kTrain, {"--batch=1048576", "--accumulate=1048576", "--group-lengths=1048576",
                         "--warmup=9007199254740992"})
              .status == 0);
    REQUIRE(f.run(kTrain, {}).status == 0);
    const Result widest = f.run({"translate", "--weights", "w"},
                                {"--beam=4096", "--batch=1048576", "--n-best=4096", "Go."});
    CHECK(widest.status == 0);
    CHECK(run_translator(f.model, {"translate", "--weights", "w", "--beam", "2147483647", "Go."})
              .err ==
          "translator: option '--beam' expects a whole number from 1 to 4096, not "
          "'2147483647'\n");
}

TEST_CASE("limits: sizes that no memory holds are the user's mistake") {
    LimitsFixture f;
    const Result result = run_translator(f.model, {"bench", "--batch=1048576", "--steps=1048576"});
    CHECK(result.status == 2);
    CHECK(result.err.find("internal error") == std::string::npos);
}

TEST_CASE("limits: a long line is read as far as it counts") {
    LimitsFixture f;
    REQUIRE(f.run(kTrain, {}).status == 0);
    std::string line;
    for (int i = 0; i < 5000; ++i) line += "go ";
    write_text("long.tsv", "Go.\tVa !\n" + line + "\t" + line + "\n");
    most_encoded = 0;
    const Result result =
        run_translator(f.model, {"evaluate", "--weights", "w", "--data", "long.tsv"});
    CHECK(result.status == 0);
    CHECK(result.err ==
          "warning: 1 of 2 pairs have more than --steps 10 tokens; they are cut to their first "
          "10\n");
    CHECK(most_encoded <= 2 * 10);
    most_encoded = 0;
    std::string lines;
    for (int i = 0; i < 30; ++i) lines += "go .\n";
    CHECK(run_translator(f.model, {"translate", "--weights", "w"}, lines + line + "\n").status ==
          0);
    CHECK(most_encoded == 5001);
}
