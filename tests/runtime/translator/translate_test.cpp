// Translating, evaluating and timing from the command line.
#include <cmath>
#include <sstream>

#include <doctest/doctest.h>

#include "../../../runtime/files/json.h"
#include "../../../runtime/safetensors.h"
#include "fake_model.h"
#include "run_translator.h"

using namespace fake;
using fovea::runtime::Json;
using fovea::runtime::parse_json;

namespace {

/// A folder with weights that know four pairs by heart.
struct TranslateFixture {
    CurrentFolder folder;
    fovea::runtime::Model model = make_model();

    TranslateFixture() {
        write_text("pairs.tsv",
                   "Go.\tVa vite !\nHi.\tSalut à toi !\nRun!\tCours !\nI see it.\tJe le vois .\n");
        const Result trained =
            run_translator(model, {"train", "--data", "pairs.tsv", "--weights", "w", "--min-freq",
                                   "1", "--lr", "0.05", "--epochs", "150"});
        REQUIRE(trained.status == 0);
    }

    Result translate(std::vector<std::string> more, const std::string& input = "") {
        std::vector<std::string> arguments = {"translate", "--weights", "w"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_translator(model, arguments, input);
    }
};

}  // namespace

TEST_CASE("sentences are translated in order, one line each") {
    TranslateFixture f;
    const Result result = f.translate({"Go.", "RUN!", "i  see\u00a0it ."});
    CHECK(result.status == 0);
    CHECK(result.out == "va vite !\ncours !\nje le vois .\n");
    CHECK(result.err.empty());
}

TEST_CASE("lines of standard input, blank ones too") {
    TranslateFixture f;
    CHECK(f.translate({}, "Go.\n\n  \nHi.\r\nRun!").out ==
          "va vite !\n\n\nsalut à toi !\ncours !\n");
    CHECK(f.translate({}, "").out.empty());
    CHECK(f.translate({}, "\n").out == "\n");
}

TEST_CASE("a translation does not depend on what was translated before") {
    TranslateFixture f;
    CHECK(f.translate({}, "I see it .\nzzz Hi.\n\nGo.\nI see it .\n").out ==
          f.translate({"I see it ."}).out + f.translate({"zzz Hi."}).out + "\n" +
              f.translate({"Go."}).out + f.translate({"I see it ."}).out);
}

TEST_CASE("--steps ends a translation, and a long sentence is translated whole") {
    TranslateFixture f;
    CHECK(f.translate({"--steps", "2", "Hi."}).out == "salut à\n");
    const Result result = f.translate({"--steps", "3", "Go.", "I see it."});
    CHECK(result.status == 0);
    CHECK(result.out == "va vite !\nje le vois\n");
    CHECK(result.err == "warning: sentence 2 has 4 words, more than --steps 3; translated whole\n");
    CHECK(f.translate({"--steps", "3"}, "Go.\nI see it.\n").err ==
          "warning: line 2 has 4 words, more than --steps 3; translated whole\n");
}

TEST_CASE("translations are as long as the weights were trained for") {
    TranslateFixture f;
    std::string line;
    for (int i = 0; i < 14; ++i) line += "mot" + std::to_string(i) + " ";
    write_text("long.tsv", "Go.\tVa vite !\nCount.\t" + line + "\n");
    REQUIRE(
        run_translator(f.model, {"train", "--data", "long.tsv", "--weights", "long", "--min-freq",
                                 "1", "--lr", "0.05", "--epochs", "200", "--steps", "20"})
            .status == 0);
    const Result whole = run_translator(f.model, {"translate", "--weights", "long", "Count."});
    CHECK(whole.out.find("mot13") != std::string::npos);
    const Result cut =
        run_translator(f.model, {"translate", "--weights", "long", "--steps", "10", "Count."});
    CHECK(cut.out.find("mot9") != std::string::npos);
    CHECK(cut.out.find("mot10") == std::string::npos);
    const Result score =
        run_translator(f.model, {"evaluate", "--weights", "long", "--data", "long.tsv", "--json"});
    CHECK(score.err.empty());
    CHECK(parse_json(score.out).find("bleu")->number() == doctest::Approx(1));
    CHECK(parse_json(score.out).find("tokens")->integer() == 4 + 15);
}

/// The weights again, with another text in their metadata.
void replace_metadata(const std::string& key, const std::string& from, const std::string& to) {
    using namespace fovea::runtime;
    const SafetensorsFile file = read_safetensors("w");
    Metadata metadata = file.metadata();
    std::string& text = metadata.at(key);
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    write_safetensors("w", file.tensors(), metadata);
}

TEST_CASE("words of a weights file neither break a line nor command a terminal") {
    TranslateFixture f;
    replace_metadata("tgt_vocab", "\"salut\"", "\"sa\\nlu\\u001b[31mt\"");
    CHECK(f.translate({"Hi."}).out == "sa\\x0alu\\x1b[31mt à toi !\n");
    replace_metadata("model", "transformer", "\x1b[2Jevil");
    const Result result = f.translate({"Hi."});
    CHECK(result.status == 2);
    CHECK(result.err.find("\\x1b[2Jevil") != std::string::npos);
    CHECK(result.err.find('\x1b') == std::string::npos);
}

TEST_CASE("weights that tell impossible steps are refused") {
    TranslateFixture f;
    replace_metadata("steps", "10", "18446744073709551615");
    CHECK(f.translate({"Hi."}).err ==
          "translator: 'w': steps in its __metadata__ is 18446744073709551615, more than the most, "
          "1048576\n");
}

TEST_CASE("several translations of a sentence, with scores, whatever the batch") {
    TranslateFixture f;
    const Result best = f.translate({"--beam", "3", "--n-best", "2", "--steps", "4"}, "Go.\nHi.\n");
    CHECK(best.status == 0);
    std::vector<std::string> fields;  // number, score, words, …
    std::istringstream lines(best.out);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream columns(line);
        for (std::string field; std::getline(columns, field, '\t');) fields.push_back(field);
    }
    REQUIRE(fields.size() == 12);
    CHECK(fields[0] == "1");
    CHECK(fields[2] == "va vite !");
    CHECK(std::stod(fields[1]) > std::stod(fields[4]));
    CHECK(fields[6] == "2");
    CHECK(std::stod(fields[7]) > std::stod(fields[10]));
    CHECK(
        f.translate({"--beam", "3", "--n-best", "2", "--steps", "4", "--batch", "1"}, "Go.\nHi.\n")
            .out == best.out);
    CHECK(f.translate({"--beam", "3", "--scores", "--steps", "4", "Go."}).out ==
          fields[1] + "\t" + fields[2] + "\n");
    const auto mistaken = [&](std::vector<std::string> more, const std::string& sentence) {
        const Result result = f.translate(std::move(more));
        CHECK(result.status == 2);
        CHECK(result.err == "translator: " + sentence + "\n");
    };
    mistaken({"--n-best", "2", "Go."}, "--n-best 2 is more than --beam 1 follows");
    mistaken({"--alpha", "-1", "Go."},
             "option '--alpha' expects a number from 0 to 3.4e38, not '-1'");
    mistaken({"--beam", "0", "Go."},
             "option '--beam' expects a whole number from 1 to 4096, not '0'");
}

TEST_CASE("an empty argument is a mistake, found before anything is translated") {
    TranslateFixture f;
    const Result result = f.translate({"Go.", ""});
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(result.err ==
          "translator: sentence 2 is empty; give a sentence with words, or none to translate "
          "standard input\n");
    CHECK(f.translate({" \u00a0"}).status == 2);
}

TEST_CASE("text that is not UTF-8 is a mistake at its line") {
    TranslateFixture f;
    const Result result = f.translate({}, "Go.\ncaf\xE9\n");
    CHECK(result.status == 2);
    CHECK(result.out == "va vite !\n");
    CHECK(result.err == "translator: line 2: the sentence is not UTF-8 at byte 4\n");
}

TEST_CASE("weights that don't fit are refused in one sentence") {
    TranslateFixture f;
    const auto refused = [&](const std::string& sentence) {
        const Result result = f.translate({"Go."});
        CHECK(result.status == 2);
        CHECK(result.err == "translator: " + sentence + "\n");
    };
    f.model.settings[0].value = "16";
    refused("'w' holds a transformer with hidden=8, but this program was generated with hidden=16");
    f.model = make_model();
    f.model.settings.push_back({"ffn", "4"});
    refused(
        "'w' holds a transformer with no setting ffn, but this program was generated with "
        "ffn=4");
    f.model.settings.back().is_default = true;  // the weights are of a time without it
    CHECK(f.translate({"Go."}).out == "va vite !\n");
    f.model.settings.back() = {.name = "dropout", .value = "0.3", .in_training = true};
    CHECK(f.translate({"Go."}).out == "va vite !\n");
    f.model = make_model();
    f.model.settings.pop_back();
    refused("'w' holds a transformer with layers=1, a setting that this program does not have");
    f.model = make_model();
    f.model.name = "seq2seq_attention";
    refused(
        "'w' holds weights of the model 'transformer', but this program is the model "
        "'seq2seq_attention'");
    f.model = make_model();
    f.model.parameters[0].name = "encoder.emb.weight";
    refused("'w' lacks parameter 'encoder.emb.weight' of transformer");
    f.model = make_model(12);
    CHECK(f.translate({"Go."}).err.find("generated with tgt_vocab=12") != std::string::npos);
    f.model = make_model();
    write_text("w", "no weights");
    CHECK(f.translate({"Go."}).status == 2);
    std::filesystem::remove("w");
    refused("cannot read 'w': No such file or directory");
}

TEST_CASE("weights of a newer format are refused, and those that say none are of the first") {
    TranslateFixture f;
    replace_metadata("fovea_format", "1", "2");
    const Result newer = f.translate({"Go."});
    CHECK(newer.status == 2);
    CHECK(newer.err ==
          "translator: 'w' has weights of format 2, and this program reads formats up to 1: build "
          "it again with the fovea that wrote the weights, or a newer one\n");
    CHECK(run_translator(f.model, {"evaluate", "--weights", "w", "--data", "pairs.tsv"}).err ==
          newer.err);
    for (const char* none : {"", "0", "1.5", "-3", "pt"}) {
        replace_metadata("fovea_format",
                         fovea::runtime::read_safetensors("w").metadata().at("fovea_format"), none);
        CHECK(f.translate({"Go."}).err == "translator: 'w': fovea_format in its __metadata__ is '" +
                                              std::string(none) +
                                              "', but should be a whole number from 1\n");
    }
    const fovea::runtime::SafetensorsFile file = fovea::runtime::read_safetensors("w");
    fovea::runtime::Metadata metadata = file.metadata();
    metadata.erase("fovea_format");
    write_safetensors("w", file.tensors(), metadata);
    CHECK(f.translate({"Go."}).out == "va vite !\n");
}

TEST_CASE("a setting of training alone may be another one in translation") {
    TranslateFixture f;
    replace_metadata("settings", "{", "{\"dropout\":\"0.1\",");
    f.model.settings.push_back({.name = "dropout", .value = "0", .in_training = true});
    CHECK(f.translate({"Go."}).out == "va vite !\n");
    f.model.settings.back().in_training = false;
    CHECK(f.translate({"Go."}).err ==
          "translator: 'w' holds a transformer with dropout=0.1, but this program was generated "
          "with dropout=0\n");
}

TEST_CASE("a checkpoint translates too, and other tensors are a warning") {
    TranslateFixture f;
    const Result result =
        run_translator(f.model, {"translate", "--weights", "w.checkpoint", "Go."});
    CHECK(result.out == "va vite !\n");
    CHECK(result.err.empty());
    using namespace fovea::runtime;
    const SafetensorsFile file = read_safetensors("w");
    const float extra[] = {1, 2};
    std::vector<TensorView> tensors = file.tensors();
    tensors.push_back(f32_tensor("extra", {2}, extra));
    write_safetensors("w2", tensors, file.metadata());
    const Result warned = run_translator(f.model, {"translate", "--weights", "w2", "Go."});
    CHECK(warned.status == 0);
    CHECK(warned.out == "va vite !\n");
    CHECK(warned.err == "warning: 'w2' has tensors that transformer does not use: 'extra'\n");
}

TEST_CASE("evaluation agrees with the training's data") {
    TranslateFixture f;
    const Result result =
        run_translator(f.model, {"evaluate", "--weights", "w", "--data", "pairs.tsv", "--json"});
    REQUIRE(result.status == 0);
    const Json report = parse_json(result.out);
    std::vector<std::string> keys;
    for (const auto& [key, value] : report.object()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"loss", "perplexity", "bleu", "pairs", "tokens"});
    CHECK(report.find("bleu")->number() == doctest::Approx(1));
    CHECK(report.find("loss")->number() < 0.2);
    CHECK(report.find("perplexity")->number() ==
          doctest::Approx(std::exp(report.find("loss")->number())));
    CHECK(report.find("pairs")->integer() == 4);
    CHECK(report.find("tokens")->integer() == 4 + 5 + 3 + 5);
    const auto loss_with = [&](const char* option, const char* value) {
        const Result other = run_translator(f.model, {"evaluate", "--weights", "w", "--data",
                                                      "pairs.tsv", "--json", option, value});
        return parse_json(other.out).find("loss")->number();
    };
    CHECK(loss_with("--batch", "3") == doctest::Approx(report.find("loss")->number()));
    CHECK(loss_with("--steps", "20") == doctest::Approx(report.find("loss")->number()));
}

TEST_CASE("evaluation counts what it cuts, and words it does not know") {
    TranslateFixture f;
    write_text("other.tsv", "Go.\tVa vite !\nHi there now.\tUn deux trois\n \tx\n");
    const Result result = run_translator(
        f.model, {"evaluate", "--weights", "w", "--data", "other.tsv", "--json", "--steps", "4"});
    REQUIRE(result.status == 0);
    CHECK(result.err ==
          "warning: 1 of 2 pairs have more than --steps 4 tokens; they are cut to "
          "their first 4\n");
    const Json report = parse_json(result.out);
    CHECK(report.find("pairs")->integer() == 2);
    CHECK(report.find("tokens")->integer() == 8);
    CHECK(report.find("bleu")->number() == doctest::Approx(0.5));
    CHECK(run_translator(f.model, {"evaluate", "--weights", "w", "--data", "other.tsv"})
              .out.find("perplexity  ") != std::string::npos);
}

TEST_CASE("bench times three programs") {
    TranslateFixture f;
    const Result result =
        run_translator(f.model, {"bench", "--json", "--batch", "4", "--steps", "5", "--vocab", "30",
                                 "--repeats", "5", "--threads", "1"});
    REQUIRE(result.status == 0);
    const Json report = parse_json(result.out);
    CHECK(report.find("threads")->integer() == 1);
    CHECK(report.find("sizes")->find("steps")->integer() == 5);
    REQUIRE(report.find("results")->array().size() == 3);
    for (const Json& row : report.find("results")->array()) {
        CHECK(row.find("ms")->find("p10")->number() <= row.find("ms")->find("median")->number());
        CHECK(row.find("ms")->find("median")->number() <= row.find("ms")->find("p90")->number());
        CHECK(row.find("tokens_per_second")->number() > 0);
    }
    CHECK(run_translator(f.model, {"bench", "--vocab", "4"}).status == 2);
    CHECK(run_translator(f.model, {"bench", "--repeats", "2", "--batch", "2"}).status == 0);
}

TEST_CASE("help and subcommands") {
    TranslateFixture f;
    CHECK(run_translator(f.model, {"--help"}).out.find("translate  ") != std::string::npos);
    for (const char* name : {"train", "translate", "evaluate", "bench"}) {
        const Result help = run_translator(f.model, {name, "--help"});
        CHECK(help.status == 0);
        CHECK(help.out.starts_with(std::string("usage: translator ") + name));
    }
    CHECK(run_translator(f.model, {"train", "--help"}).out.find("(default 30)") !=
          std::string::npos);
    CHECK(run_translator(f.model, {}).status == 2);
    const Result typo = run_translator(f.model, {"trian"});
    CHECK(typo.status == 2);
    CHECK(typo.err ==
          "translator: the subcommand should be train, translate, evaluate or bench, "
          "not 'trian'; did you mean 'train'?\n");
    CHECK(run_translator(f.model, {"translate", "--weights", "w", "--beams", "4", "Go."}).status ==
          2);
}
