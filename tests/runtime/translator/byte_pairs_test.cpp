// A translator of byte pairs: trained, kept in the weights, and everything that may not fit.
#include <doctest/doctest.h>

#include "../../../runtime/files/json.h"
#include "../../../runtime/safetensors.h"
#include "fake_model.h"
#include "run_translator.h"

using namespace fake;
using fovea::runtime::parse_json;

namespace {

const std::string kReservedText = R"("<unk>","<pad>","<bos>","<eos>")";

/// Pieces of the pairs below: words that merge, and characters.
std::string pieces(const std::string& tokens = "byte_pairs") {
    return R"({"tokens":")" + tokens + R"(","source":[)" + kReservedText +
           R"(,"▁g","▁go","▁r","un","▁h","▁","g","o",".","h","i","r","u","n","!"],"target":[)" +
           kReservedText +
           R"(,"▁v","▁va","al","ut","▁s","▁","v","a","s","l","u","t","!","c","o","r"]})";
}

struct BytePairsFixture {
    CurrentFolder folder;
    fovea::runtime::Model model = make_model();
    BytePairsFixture() {
        write_text("pairs.tsv", "Go.\tVa !\nHi.\tSalut !\nRun!\tCours !\n");
        write_text("pieces.json", pieces());
    }
    Result train(std::vector<std::string> more = {}) {
        std::vector<std::string> arguments = {"train", "--data", "pairs.tsv",  "--weights",
                                              "w",     "--bpe",  "pieces.json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_translator(model, arguments);
    }
    void train_by_heart() {
        REQUIRE(train({"--lr", "0.05", "--epochs", "200", "--steps", "12"}).status == 0);
    }
    Result translate(std::vector<std::string> more, const std::string& input = "") {
        std::vector<std::string> arguments = {"translate", "--weights", "w", "--steps", "12"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_translator(model, arguments, input);
    }
    void refused(const Result& result, const std::string& sentence) {
        CHECK(result.status == 2);
        CHECK(result.err == "translator: " + sentence + "\n");
    }
};

}  // namespace

TEST_CASE("what is translated is a text again, and weights hold all that this takes") {
    BytePairsFixture f;
    f.train_by_heart();
    std::filesystem::remove("pieces.json");
    CHECK(f.translate({"Go.", "Hi.", "run !"}).out == "va !\nsalut !\ncours !\n");
    CHECK(f.translate({}, "Go.\n\nHi.\n").out == "va !\n\nsalut !\n");
    const auto weights = fovea::runtime::read_safetensors("w");
    CHECK(weights.metadata_at("tokens") == "byte_pairs");
    CHECK(parse_json(weights.metadata_at("src_vocab")).array().size() == 19);
    const Result result = run_translator(
        f.model, {"evaluate", "--weights", "w", "--data", "pairs.tsv", "--json", "--steps", "12"});
    REQUIRE(result.status == 0);
    const auto report = parse_json(result.out);
    CHECK(report.find("bleu")->number() == doctest::Approx(1));  // of words
    CHECK(report.find("tokens")->integer() == 4 + 6 + 9);        // pieces, and <eos>
}

TEST_CASE("long sentences are counted in pieces") {
    BytePairsFixture f;
    f.train_by_heart();
    const Result result = run_translator(
        f.model, {"translate", "--weights", "w", "--steps", "3", "xyz", "Run run !"});
    CHECK(result.status == 0);
    CHECK(result.err ==
          "warning: sentence 2 has 6 pieces, more than --steps 3; translated whole\n");
}

TEST_CASE("a training of pieces goes on with the same pieces alone") {
    BytePairsFixture f;
    REQUIRE(f.train({"--epochs", "4"}).status == 0);
    const std::string whole = read_text("w");
    REQUIRE(f.train({"--epochs", "2"}).status == 0);
    REQUIRE(f.train({"--epochs", "4", "--resume"}).status == 0);
    CHECK(read_text("w") == whole);
    write_text("pieces.json", pieces("cased_byte_pairs"));
    f.refused(f.train({"--epochs", "5", "--resume"}),
              "'w.checkpoint' was trained on byte_pairs, but this run is on cased_byte_pairs; "
              "--resume needs the same --bpe");
    f.refused(run_translator(f.model, {"train", "--data", "pairs.tsv", "--weights", "w",
                                       "--min-freq", "1", "--resume"}),
              "'w.checkpoint' was trained on byte_pairs, but this run is on words; --resume needs "
              "the same --bpe");
}

TEST_CASE("options and files that do not fit") {
    BytePairsFixture f;
    f.refused(f.train({"--min-freq", "1"}),
              "option '--min-freq' is for trainings without --bpe alone");
    f.refused(run_translator(f.model, {"train", "--data", "pairs.tsv", "--weights", "w", "--bpe",
                                       "none.json"}),
              "cannot read 'none.json': No such file or directory");
    const Result same =
        run_translator(f.model, {"train", "--data", "pairs.tsv", "--weights", "w", "--bpe", "w"});
    CHECK(same.status == 2);
    CHECK(same.err.find("--bpe") != std::string::npos);
    CHECK(file_names() == std::vector<std::string>{"pairs.tsv", "pieces.json"});
    f.model = make_model(12);
    f.refused(f.train(),
              "this transformer was generated with src_vocab=12, but the vocabulary of "
              "'pieces.json' has 19 words; generate it with --set src_vocab=19, or leave src_vocab "
              "unset");
}

TEST_CASE("weights whose tokens are no pieces are refused") {
    BytePairsFixture f;
    f.train_by_heart();
    const auto weights = fovea::runtime::read_safetensors("w");
    auto metadata = weights.metadata();
    const auto write = [&] { write_safetensors("w2", weights.tensors(), metadata); };
    const auto translated = [&] {
        return run_translator(f.model, {"translate", "--weights", "w2", "Go."});
    };
    metadata["tokens"] = "letters";
    write();
    f.refused(translated(),
              "'w2': tokens in its __metadata__ is 'letters', but should be words, byte_pairs or "
              "cased_byte_pairs");
    metadata["tokens"] = "byte_pairs";
    metadata["src_vocab"] =
        "[" + kReservedText +
        R"(,"▁go","▁g","▁r","un","▁h","▁","g","o",".","h","i","r","u","n","!"])";
    write();
    f.refused(translated(),
              "'w2', source: piece 4, '▁go', is not made of two pieces before it; the pieces "
              "should stand in the order of their merges, as tools/learn_bpe.py writes them");
}

TEST_CASE("shared embeddings take one list of pieces") {
    BytePairsFixture f;
    f.model.settings.push_back({"share_embeddings", "true"});
    f.refused(f.train(),
              "this transformer was generated with share_embeddings=true, but the vocabulary of "
              "'pieces.json' is not one for both languages; train with --bpe and pieces of both "
              "(tools/learn_bpe.py --joint), or generate it without that setting");
    const std::string list = "[" + kReservedText + R"(,"▁","g","o",".","v","a","!"])";
    write_text("pieces.json",
               R"({"tokens":"byte_pairs","source":)" + list + R"(,"target":)" + list + "}");
    CHECK(f.train({"--epochs", "1"}).status == 0);
}
