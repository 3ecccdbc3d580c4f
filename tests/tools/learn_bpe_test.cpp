// tools/learn_bpe.py: what it refuses, and, where Python has sentencepiece, what it writes
// (FOVEA_PYTHON names another interpreter than python3).
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/text/byte_pair_file.h"
#include "tools/fovea/process.h"

using namespace fovea::tool;
using namespace fovea::runtime;

namespace {

const std::string kCorpus = FOVEA_SOURCE_DIR "/models/transformer/corpus.tsv";

std::string python() {
    const char* chosen = std::getenv("FOVEA_PYTHON");
    return chosen ? chosen : "python3";
}

bool has(const std::string& statement) {
    return run_process({"sh", "-c", "\"$0\" -c \"$1\" 2>/dev/null", python(), statement}).status ==
           0;
}

/// Runs the script in a folder of its own.
struct Fixture {
    TemporaryFolder folder;
    std::string file(const std::string& name) { return (folder.path() / name).string(); }
    ProcessResult learn(std::vector<std::string> arguments) {
        std::vector<std::string> command = {python(), FOVEA_SOURCE_DIR "/tools/learn_bpe.py"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return run_process(command);
    }
    void refused(std::vector<std::string> arguments, const std::string& sentence) {
        arguments.insert(arguments.end(), {"-o", file("p.json")});
        const ProcessResult result = learn(arguments);
        CHECK(result.status == 2);
        CHECK(result.output == "learn_bpe: " + sentence + "\n");
        CHECK(!std::filesystem::exists(file("p.json")));
    }
};

}  // namespace

TEST_CASE("learn_bpe.py refuses what it cannot read in one sentence") {
    if (!has("pass")) {
        MESSAGE("skipped: there is no '", python(), "'");
        return;
    }
    Fixture f;
    f.refused({"--data", "none.tsv"}, "cannot read 'none.tsv': No such file or directory");
    f.refused({"--data", kCorpus, "--pieces", "0"},
              "--pieces and --pairs expect whole numbers from 1");
    const std::string data = f.file("d.tsv");
    std::ofstream(data) << "a\tb\nno tab\n";
    f.refused({"--data", data},
              data + ":2: one column, but a pair is a sentence, a tab and its translation");
    std::ofstream(data) << "";
    f.refused({"--data", data},
              "'" + data + "' holds no pair; a line is a sentence, a tab and its translation");
    std::ofstream(data) << "a\t \n";
    if (has("import sentencepiece")) {
        f.refused({"--data", data, "--pieces", "5", "--joint"},
                  "--pieces 5 does not suit the source and target sentences, which have 2 "
                  "characters: at least 6 are needed");
    } else {
        f.refused({"--data", data},
                  "the Python package sentencepiece is missing: pip install sentencepiece, or "
                  "apt-get install python3-sentencepiece");
    }
}

TEST_CASE("learn_bpe.py writes pieces that a translator reads") {
    if (!has("import sentencepiece")) {
        MESSAGE("skipped: '", python(), "' has no sentencepiece");
        return;
    }
    Fixture f;
    const ProcessResult words =
        f.learn({"--data", kCorpus, "--pieces", "300", "-o", f.file("p.json")});
    CHECK_MESSAGE(words.status == 0, words.output);
    const PieceFile file = read_piece_file(f.file("p.json"));
    CHECK(file.kind == TokenKind::byte_pairs);
    CHECK(file.source.size() == 300);
    CHECK_FALSE(file.source == file.target);
    const ProcessResult joint = f.learn({"--data", kCorpus, "--pieces", "700", "--joint", "--cased",
                                         "--bytes", "-o", f.file("p.json")});
    CHECK_MESSAGE(joint.status == 0, joint.output);
    const PieceFile shared = read_piece_file(f.file("p.json"));
    CHECK(shared.kind == TokenKind::cased_byte_pairs);
    CHECK(shared.source == shared.target);
    CHECK(shared.source.word(4) == "<0x00>");
}
