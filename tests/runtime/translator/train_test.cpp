// Training from the command line: what it writes, that it learns, and that a training that stopped
// goes on to the same bits.
#include <csignal>

#include <doctest/doctest.h>

#include "../../../runtime/files/json.h"
#include "../../../runtime/safetensors.h"
#include "fake_model.h"
#include "run_translator.h"

using namespace fake;
using fovea::runtime::Json;
using fovea::runtime::parse_json;
using fovea::runtime::read_safetensors;

namespace {

const char* const kPairs =
    "Go.\tVa !\tattribution\n"
    "Hi.\tSalut !\n"
    "Run!\tCours !\n"
    "Wow!\tÇa alors !\n"
    "I see.\tJe vois .\n"
    "I try.\tJ'essaye .\n"
    "I won.\tJe gagne .\n";

std::vector<std::string> train_arguments(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"train",   "--data", "pairs.tsv",  "--weights", "w",
                                          "--batch", "3",      "--min-freq", "1",         "--lr",
                                          "0.05",    "--seed", "5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

/// A folder with the pairs in it.
struct TrainFixture {
    CurrentFolder folder;
    fovea::runtime::Model model = make_model();
    TrainFixture() { write_text("pairs.tsv", kPairs); }
    Result train(std::vector<std::string> more = {}) {
        return run_translator(model, train_arguments(std::move(more)));
    }
};

std::vector<Json> log_lines(const std::string& path) {
    std::vector<Json> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(parse_json(line));
    return lines;
}

}  // namespace

TEST_CASE("a training writes weights, a checkpoint, a log and a summary") {
    TrainFixture f;
    const Result result = f.train({"--epochs", "40", "--log", "log.jsonl", "--threads", "1"});
    CHECK(result.status == 0);
    CHECK(result.out.starts_with("loss "));
    CHECK(result.out.find(" tokens/s\n") != std::string::npos);
    CHECK(result.err.find("epoch 40/40: loss ") != std::string::npos);
    CHECK(file_names() == std::vector<std::string>{"log.jsonl", "pairs.tsv", "w", "w.checkpoint"});

    const auto lines = log_lines("log.jsonl");
    REQUIRE(lines.size() == 40);
    std::vector<std::string> keys;
    for (const auto& [key, value] : lines[0].object()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"epoch", "step", "loss", "tokens_per_second",
                                           "learning_rate", "grad_norm", "perplexity"});
    CHECK(lines[1].find("epoch")->integer() == 2);
    CHECK(lines[1].find("step")->integer() == 6);
    CHECK(lines[0].find("loss")->number() > 2);
    CHECK(lines[39].find("loss")->number() < 0.2);
    CHECK(lines[0].find("learning_rate")->number() == 0.05);
}

TEST_CASE("weights hold the parameters alone, and say what they are for") {
    TrainFixture f;
    REQUIRE(f.train({"--epochs", "2"}).status == 0);
    const auto weights = read_safetensors("w");
    std::vector<std::string> names;
    for (const auto& tensor : weights.tensors()) names.push_back(tensor.name);
    CHECK(names == std::vector<std::string>{"decoder.dense.bias", "decoder.dense.weight",
                                            "decoder.embedding.weight",
                                            "encoder.embedding.weight"});
    CHECK(weights.metadata().size() == 8);
    CHECK(weights.metadata_at("fovea_format") == "1");
    CHECK(weights.metadata_at("steps") == "10");
    CHECK(weights.metadata_at("model") == "transformer");
    CHECK(parse_json(weights.metadata_at("settings")).find("hidden")->string() == "8");
    const Json words = parse_json(weights.metadata_at("src_vocab"));
    CHECK(words.array()[4].string() == ".");
    CHECK(words.array()[5].string() == "i");
    CHECK(parse_json(weights.metadata_at("tgt_vocab")).array().size() == 15);
    CHECK(weights.metadata_at("step") == "6");
    CHECK(weights.metadata_at("seed") == "5");
    const auto checkpoint = read_safetensors("w.checkpoint");
    CHECK(checkpoint.find("optimizer.m.decoder.dense.bias") != nullptr);
    CHECK(checkpoint.find("optimizer.v.encoder.embedding.weight") != nullptr);
    CHECK(checkpoint.tensors().size() == 12);
}

TEST_CASE("the same run gives the same bytes, whatever the paths and threads") {
    TrainFixture f;
    REQUIRE(f.train({"--epochs", "3", "--threads", "1"}).status == 0);
    const std::string weights = read_text("w"), checkpoint = read_text("w.checkpoint");
    std::filesystem::create_directory("other");
    const auto pairs = std::filesystem::path("other") / "data.tsv";
    write_text(pairs, kPairs);
    REQUIRE(
        run_translator(f.model, {"train", "--data", pairs.string(), "--weights", "other/x",
                                 "--checkpoint", "other/c", "--batch", "3", "--min-freq", "1",
                                 "--lr", "0.05", "--seed", "5", "--epochs", "3", "--threads", "2"})
            .status == 0);
    CHECK(read_text("other/x") == weights);
    CHECK(read_text("other/c") == checkpoint);
    REQUIRE(f.train({"--epochs", "4"}).status == 0);
    CHECK(read_text("w") != weights);
}

TEST_CASE("a training that goes on ends where an uninterrupted one does") {
    TrainFixture f;
    REQUIRE(f.train({"--epochs", "5", "--log", "log"}).status == 0);
    const std::string weights = read_text("w"), checkpoint = read_text("w.checkpoint");
    const auto whole = log_lines("log");
    REQUIRE(f.train({"--epochs", "2", "--log", "log"}).status == 0);
    CHECK(read_text("w") != weights);
    std::filesystem::remove("w");
    REQUIRE(f.train({"--epochs", "5", "--log", "log", "--resume"}).status == 0);
    CHECK(read_text("w") == weights);
    CHECK(read_text("w.checkpoint") == checkpoint);
    const auto parts = log_lines("log");
    REQUIRE(parts.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(*parts[i].find("loss") == *whole[i].find("loss"));
        CHECK(*parts[i].find("grad_norm") == *whole[i].find("grad_norm"));
    }
    const Result again = f.train({"--epochs", "5", "--resume"});
    CHECK(again.status == 0);
    CHECK(again.out == "nothing left to train after 5 epochs\n");
    CHECK(read_text("w") == weights);
}

TEST_CASE("a signal ends a training after its step, and it goes on to the same bits") {
    TrainFixture f;
    REQUIRE(f.train({"--epochs", "4", "--log", "log"}).status == 0);
    const std::string weights = read_text("w"), checkpoint = read_text("w.checkpoint");
    const auto whole = log_lines("log");
    std::signal(SIGHUP, SIG_DFL);  // whoever runs the tests may ignore it
    for (const std::uint64_t step : {0, 4, 5, 7}) {
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
            CAPTURE(step);
            for (const char* path : {"w", "w.checkpoint", "log"}) std::filesystem::remove(path);
            before_step = [&](std::uint64_t now) {
                if (now == step) std::raise(signal);
            };
            const Result stopped = f.train({"--epochs", "4", "--log", "log"});
            before_step = nullptr;
            CHECK(stopped.status == 128 + signal);
            CHECK(stopped.err.find("stopped at step " + std::to_string(step + 1)) !=
                  std::string::npos);
            CHECK(!std::filesystem::exists("w"));
            REQUIRE(f.train({"--epochs", "4", "--log", "log", "--resume"}).status == 0);
            CHECK(read_text("w") == weights);
            CHECK(read_text("w.checkpoint") == checkpoint);
            const auto parts = log_lines("log");
            REQUIRE(parts.size() == 4);
            for (std::size_t i = 0; i < 4; ++i) {
                CHECK(*parts[i].find("loss") == *whole[i].find("loss"));
            }
        }
    }
}

TEST_CASE("a signal in the last step comes too late to stop a training") {
    TrainFixture f;
    before_step = [&](std::uint64_t now) {
        if (now == 5) std::raise(SIGTERM);
    };
    const Result result = f.train({"--epochs", "2"});
    before_step = nullptr;
    CHECK(result.status == 0);
    CHECK(std::filesystem::exists("w"));
}

TEST_CASE("a checkpoint of something else is refused in one sentence") {
    TrainFixture f;
    REQUIRE(f.train({"--epochs", "3"}).status == 0);
    const std::string weights = read_text("w");
    const auto refused = [&](std::vector<std::string> more, const std::string& sentence) {
        more.push_back("--resume");
        const Result result = f.train(std::move(more));
        CHECK(result.status == 2);
        CHECK(result.err == "translator: " + sentence + "\n");
        CHECK(read_text("w") == weights);
    };
    refused({"--steps", "9"},
            "'w.checkpoint' was made with --steps 10, but this run has --steps 9; "
            "--resume needs the same");
    refused({"--clip", "0.5"},
            "'w.checkpoint' was made with --clip 1, but this run has --clip 0.5; "
            "--resume needs the same");
    refused({"--pairs", "6"},
            "'w.checkpoint' has a source vocabulary of 14 words, the data one of "
            "13; --resume needs the same data");
    refused({"--epochs", "2"}, "'w.checkpoint' is in epoch 3, behind --epochs 2");
    refused({"--checkpoint", "w"}, "--weights and --checkpoint are one file, 'w'");
    const std::string first_line =
        std::string(kPairs).substr(0, std::string(kPairs).find('\n') + 1);
    write_text("pairs.tsv", std::string(kPairs).substr(first_line.size()) + first_line);
    refused({},
            "'w.checkpoint' was trained on 7 pairs, the data has 7 others; --resume needs the "
            "same data");
    write_text("pairs.tsv", kPairs);
    f.model = make_model(0, "2");
    refused({},
            "'w.checkpoint' holds a transformer with layers=1, but this program was generated "
            "with layers=2");
}

TEST_CASE("a training goes on with the settings that it had, and options of today's default") {
    TrainFixture f;
    f.model.settings.push_back({.name = "dropout", .value = "0.1", .in_training = true});
    REQUIRE(f.train({"--epochs", "2"}).status == 0);
    const auto rewrite = [&](const std::string& key, const std::string& from,
                             const std::string& to) {
        using namespace fovea::runtime;
        const SafetensorsFile file = read_safetensors("w.checkpoint");
        Metadata metadata = file.metadata();
        std::string& text = metadata.at(key);
        REQUIRE(text.find(from) != std::string::npos);
        text.replace(text.find(from), from.size(), to);
        write_safetensors("w.checkpoint", file.tensors(), metadata);
    };
    f.model.settings.back().value = "0.2";
    CHECK(f.train({"--epochs", "3", "--resume"}).err ==
          "translator: 'w.checkpoint' holds a transformer with dropout=0.1, but this program was "
          "generated with dropout=0.2\n");
    f.model.settings.back().value = "0.1";
    rewrite("training", "\"accumulate\":1,", "");  // of a fovea without this option
    CHECK(f.train({"--epochs", "3", "--resume", "--accumulate", "2"}).err ==
          "translator: 'w.checkpoint' was made with --accumulate 1, but this run has --accumulate "
          "2; --resume needs the same\n");
    CHECK(f.train({"--epochs", "3", "--resume"}).status == 0);
    rewrite("training", "\"clip\":1.0", "\"clip\":\"x\"");
    CHECK(f.train({"--epochs", "4", "--resume"}).err ==
          "translator: 'w.checkpoint': the training option 'clip' in its __metadata__ is "
          "'\"x\"'\n");
}

TEST_CASE("an option that a checkpoint does not name was unset") {
    TrainFixture f;
    const std::vector<std::string> train = {"train", "--data", "pairs.tsv", "--weights", "w"};
    REQUIRE(run_translator(f.model, train).status == 0);
    const fovea::runtime::SafetensorsFile file = fovea::runtime::read_safetensors("w.checkpoint");
    fovea::runtime::Metadata metadata = file.metadata();
    metadata["training"] = "{}";
    write_safetensors("w.checkpoint", file.tensors(), metadata);
    std::vector<std::string> resume = train;
    resume.emplace_back("--resume");
    CHECK(run_translator(f.model, resume).status == 0);
    metadata["training"] = "0";
    write_safetensors("w.checkpoint", file.tensors(), metadata);
    CHECK(run_translator(f.model, resume).err ==
          "translator: 'w.checkpoint': training in its __metadata__ is no JSON object\n");
}

TEST_CASE("weights are no checkpoint") {
    TrainFixture f;
    REQUIRE(f.train({"--epochs", "1"}).status == 0);
    const Result result = f.train({"--resume", "--weights=v", "--checkpoint", "w"});
    CHECK(result.status == 2);  // --weights is given twice
    const Result other = run_translator(f.model, {"train", "--data", "pairs.tsv", "--weights", "v",
                                                  "--checkpoint", "w", "--resume"});
    CHECK(other.status == 2);
    CHECK(other.err ==
          "translator: 'w' is no checkpoint: it has no 'training' in its __metadata__\n");
}

TEST_CASE("the user's mistakes write nothing") {
    TrainFixture f;
    const auto mistaken = [&](std::vector<std::string> arguments, const std::string& sentence) {
        const auto before = file_names();
        const Result result = run_translator(f.model, std::move(arguments));
        CHECK(result.status == 2);
        CHECK(result.err == "translator: " + sentence + "\n");
        CHECK(result.out.empty());
        CHECK(file_names() == before);
    };
    mistaken({"train", "--data", "none.tsv", "--weights", "w"},
             "cannot read 'none.tsv': No such file or directory");
    mistaken({"train", "--data", "pairs.tsv"}, "translator train needs the option '--weights OUT'");
    mistaken({"train", "--data", "pairs.tsv", "--weights", "no/w"},
             "cannot write 'no/w': No such file or directory");
    mistaken({"train", "--data", "pairs.tsv", "--weights", "."},
             "cannot write '.': Is a directory");
    mistaken({"train", "--data", "pairs.tsv", "--weights", "./pairs.tsv"},
             "--data and --weights are one file, './pairs.tsv'");
    mistaken({"translate", "--weights", "w.safetensors", "--attention", "./w.safetensors", "a"},
             "--weights and --attention are one file, './w.safetensors'");
    mistaken({"train", "--data", "pairs.tsv", "--weights", "w", "--log", "no/log"},
             "cannot write 'no/log': No such file or directory");
    mistaken({"train", "--data", "pairs.tsv", "--weights", "w", "--min-freq", "20"},
             "no source word of 'pairs.tsv' occurs 20 times; lower --min-freq");
    mistaken({"train", "--data", "pairs.tsv", "--weights", "w", "--clip", "-1"},
             "option '--clip' expects a number from 0 to 3.4e38, not '-1'");
    write_text("one.tsv", "a\tb\nonly one column\n");
    mistaken({"train", "--data", "one.tsv", "--weights", "w"},
             "one.tsv:2: one column, but a pair is a sentence, a tab and its translation");
    write_text("empty.tsv", "a\t \n\tb\n");
    mistaken({"train", "--data", "empty.tsv", "--weights", "w"},
             "'empty.tsv' holds no pair with words on both sides (of 2 pairs)");
}

TEST_CASE("a training that diverges says so and leaves the last checkpoint") {
    TrainFixture f;
    const Result result = f.train({"--epochs", "3", "--lr=1e30"});
    CHECK(result.status == 2);
    const Result diverged = run_translator(f.model, {"train", "--data", "pairs.tsv", "--weights",
                                                     "w", "--lr", "1e30", "--batch", "2"});
    CHECK(diverged.status == 2);
    CHECK(diverged.err.find("the loss is no longer finite at step 2 (epoch 1); train again with a "
                            "smaller --lr") != std::string::npos);
    CHECK(!std::filesystem::exists("w"));
}

TEST_CASE("vocabularies must have the sizes that a model fixes") {
    TrainFixture f;
    f.model = make_model(20);
    const Result result = f.train();
    CHECK(result.status == 2);
    CHECK(result.err ==
          "translator: this transformer was generated with src_vocab=20, but the vocabulary of "
          "'pairs.tsv' has 14 words; generate it with --set src_vocab=14, or leave src_vocab "
          "unset\n");
    write_text("pairs.tsv", "a b c d e f g h\th g f e d c b a\n");
    f.model = make_model(12);
    CHECK(f.train({"--epochs", "1"}).status == 0);
}
