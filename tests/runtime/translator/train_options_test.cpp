// Options of a training beyond d2l's: accumulation, schedules, optimizers, held out pairs.
#include <doctest/doctest.h>

#include <cmath>

#include "../../../runtime/error.h"
#include "../../../runtime/files/json.h"
#include "../../../runtime/safetensors.h"
#include "../../../runtime/training_step.h"
#include "../../../runtime/translator/weights_file.h"
#include "fake_model.h"
#include "run_translator.h"

using namespace fake;
using namespace fovea::runtime;

namespace {

const char* const kShortPairs =
    "Go.\tVa !\n"
    "Hi.\tSalut !\n"
    "Run!\tCours !\n"
    "Wow!\tÇa alors !\n"
    "I see.\tJe vois .\n"
    "I try.\tJ'essaye .\n"
    "I won.\tJe gagne .\n";

struct OptionsFixture {
    CurrentFolder folder;
    Model model = make_model();
    OptionsFixture() { write_text("pairs.tsv", kShortPairs); }
    Result train(const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"train", "--data",  "pairs.tsv", "--weights",
                                              "w",     "--batch", "2",         "--min-freq",
                                              "1",     "--log",   "log"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_translator(model, std::move(arguments));
    }
    void refuses(const std::vector<std::string>& more, const std::string& sentence) {
        const Result result = train(more);
        CHECK(result.status == 2);
        CHECK(result.err == "translator: " + sentence + "\n");
        CHECK(file_names() == std::vector<std::string>{"pairs.tsv"});
    }
};

std::vector<Json> lines_of_log() {
    std::vector<Json> lines;
    std::ifstream file("log");
    for (std::string line; std::getline(file, line);) lines.push_back(parse_json(line));
    return lines;
}

double number_of(const Json& line, const char* name) { return line.find(name)->number(); }

/// The parameters after one step of two equal batches: at once with `rule`, or accumulated halves.
/// In memory that is lent, or its own.
std::vector<float> stepped(bool accumulates, std::span<std::byte> lent = {}) {
    const Model model = make_model(8);
    Parameters parameters(model, {});
    parameters.initialize(1);
    Optimizer optimizer(parameters.trained_size());
    TrainingStep step(model, parameters, optimizer);
    step.instance().use_workspace(lent);
    step.instance().bind({{"batch", 2}, {"src_len", 3}, {"tgt_len", 2}});
    for (const char* name : {"src", "tgt", "labels"})
        for (int i = 0; i < (name[0] == 's' ? 6 : 4); ++i)
            step.instance().input<std::int32_t>(name)[i] = 4 + i % 4;
    std::fill_n(step.instance().input<std::int32_t>("src_lens"), 2, 3);
    std::fill_n(step.instance().input<std::int32_t>("tgt_lens"), 2, 2);
    const StepRule rule{.learning_rate = 0.1, .clip = 0.5, .gradient_scale = 1};
    if (accumulates) {
        step.accumulate(1, 0, 0.25);
        step.accumulate(1, 0, 0.5);
        CHECK(step.run(1, 0, {rule.learning_rate, rule.clip, 0.25}).moved);
    } else {
        CHECK(step.run(1, 0, rule).moved);
    }
    CHECK(optimizer.step() == 1);
    return {parameters.flat().begin(), parameters.flat().end()};
}

}  // namespace

TEST_CASE("train: an optimizer of another size is our mistake") {
    const Model model = make_model(8);
    Parameters parameters(model, {});
    Optimizer optimizer(4);
    CHECK_THROWS_AS(TrainingStep(model, parameters, optimizer), InternalError);
}

TEST_CASE("train: gradients that are accumulated move the parameters as their sum does") {
    const std::vector<float> whole = stepped(false), parts = stepped(true);
    for (std::size_t i = 0; i < whole.size(); ++i)
        REQUIRE(parts[i] == doctest::Approx(whole[i]).epsilon(1e-5));
}

TEST_CASE("train: memory that is lent may hold anything") {
    const std::vector<float> own = stepped(false);
    for (const unsigned char byte : {0x00, 0x5a, 0xff}) {
        std::vector<std::byte> memory(std::size_t{1} << 20, std::byte{byte});
        CHECK(stepped(false, memory) == own);
        CHECK(stepped(true, memory) == stepped(true));
    }
}

TEST_CASE("train: steps of several batches are fewer, and can be resumed") {
    OptionsFixture f;
    const std::vector<std::string> options = {
        "--accumulate",  "2", "--optimizer", "sgd", "--momentum", "0.9", "--schedule", "cosine",
        "--total-steps", "8", "--warmup",    "3",   "--lr",       "0.5"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), options.begin(), options.end());
        return f.train(more);
    };
    REQUIRE(with({"--epochs", "4"}).status == 0);
    const std::string weights = read_text("w"), checkpoint = read_text("w.checkpoint");
    const auto lines = lines_of_log();
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].find("step")->integer() == 2);  // 7 pairs, 4 a step
    CHECK(number_of(lines[0], "learning_rate") == doctest::Approx(0.5 * 2 / 3));
    CHECK(number_of(lines[3], "learning_rate") == doctest::Approx(0));
    CHECK(number_of(lines[3], "loss") < number_of(lines[0], "loss"));
    CHECK(read_safetensors("w.checkpoint").find("optimizer.momentum.decoder.dense.bias"));
    REQUIRE(with({"--epochs", "2"}).status == 0);
    REQUIRE(with({"--epochs", "4", "--resume"}).status == 0);
    CHECK(read_text("w") == weights);
    CHECK(read_text("w.checkpoint") == checkpoint);
    const Result other = f.train({"--resume", "--epochs", "4", "--accumulate", "2"});
    CHECK(other.status == 2);
    CHECK(other.err.find("was made with --lr 0.5, but this run has --lr 0.005; --resume needs the "
                         "same") != std::string::npos);
}

TEST_CASE("train: the weights of the best epoch on held out pairs are kept, and patience ends it") {
    OptionsFixture f;
    const std::vector<std::string> options = {"--validation", "0.3", "--patience", "2",
                                              "--epochs",     "200", "--lr",       "0.2"};
    const Result result = f.train(options);
    REQUIRE(result.status == 0);
    const auto lines = lines_of_log();
    REQUIRE(lines.size() < 200);
    std::size_t best = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(number_of(lines[i], "validation_perplexity") ==
              doctest::Approx(std::exp(number_of(lines[i], "validation_loss"))));
        CHECK(number_of(lines[i], "validation_accuracy") >= 0);
        CHECK(number_of(lines[i], "validation_accuracy") <= 1);
        if (number_of(lines[i], "validation_loss") < number_of(lines[best], "validation_loss"))
            best = i;
    }
    CHECK(best + 3 == lines.size());
    const auto step = parse_json(read_safetensors("w").metadata_at("step"));
    CHECK(step.integer() == lines[best].find("step")->integer());
    CHECK(result.out.find("'w' holds the weights of epoch " + std::to_string(best + 1)) !=
          std::string::npos);
    const std::string weights = read_text("w");
    const Result resumed = f.train(
        {"--validation", "0.3", "--patience", "2", "--epochs", "200", "--lr", "0.2", "--resume"});
    CHECK(resumed.status == 0);
    CHECK(resumed.out.starts_with("nothing left to train"));
    CHECK(read_text("w") == weights);
}

TEST_CASE("train: options that do not go together are refused before anything is written") {
    OptionsFixture f;
    f.refuses({"--optimizer", "adagrad"},
              "option '--optimizer' expects one of adam, adamw, sgd, not 'adagrad'");
    f.refuses({"--optimizer", "adma"},
              "option '--optimizer' expects one of adam, adamw, sgd, not 'adma'; did you mean "
              "'adam'?");
    f.refuses({"--momentum", "0.9"}, "option '--momentum' is for --optimizer sgd alone");
    f.refuses({"--optimizer", "sgd", "--beta1", "0.8"},
              "option '--beta1' is for --optimizer adam and adamw alone");
    f.refuses({"--weight-decay", "-1"},
              "option '--weight-decay' expects a number from 0 to 3.4e38, not '-1'");
    f.refuses({"--schedule", "linear"},
              "option '--schedule' expects one of constant, cosine, paper, not 'linear'");
    f.refuses({"--schedule", "cosine"},
              "--schedule cosine needs --total-steps, after which the rate is 0");
    f.refuses({"--schedule", "cosine", "--total-steps", "5", "--warmup", "5"},
              "--total-steps 5 should be above --warmup 5");
    f.refuses({"--total-steps", "5"}, "option '--total-steps' is for --schedule cosine alone");
    f.refuses({"--schedule", "paper"}, "--schedule paper needs --warmup, 4000 in the paper");
    f.refuses({"--patience", "3"}, "option '--patience' is for trainings with --validation alone");
    f.refuses({"--validation", "0.99"},
              "--validation holds out all 7 pairs; none is left to train on");
    f.model.settings.clear();
    f.refuses({"--schedule", "paper", "--warmup", "10"},
              "--schedule paper needs a model with a setting 'd_model', 'hidden', 'hidden_size' or "
              "'n_embd'; transformer has none");
}
