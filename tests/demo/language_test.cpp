// A language model that is trained on the root page: the bits of its weights over thread counts and
// after a resume, what is held out, texts that go on, and what is refused.
#include "runtime/files/json.h"
#include "runtime/safetensors.h"
#include "tests/demo/commands.h"
#include "tests/examples.h"
#include "tests/random_seed.h"

using namespace fovea::test;

namespace {

const char* const kSizes =
    " --set hidden_size=32 --set intermediate_size=48 --set num_attention_heads=4 --set "
    "num_key_value_heads=2 --set num_hidden_layers=2 --isa native";

struct Program {
    Folder folder{"language_test"};

    /// The program without pairs, which is built once.
    void build_plain(const std::string& name) const {
        static const bool is_built = [&] {
            folder.build("llama", std::string("-o plain --set vocab_size=256") + kSizes);
            return true;
        }();
        if (is_built) folder.run("cp plain " + name);
    }

    void train(const std::string& weights, const std::string& options) const {
        const std::string rate = options.find("--lr") == options.npos ? " --lr 0.003 " : " ";
        folder.run("./llm train --data text --weights " + weights + " --len 32" + rate + options +
                   " > said 2>&1");
    }
    void refuses(const std::string& arguments, const std::string& sentence) const {
        folder.run("./llm " + arguments + " > said 2>&1; test $? = 2");
        CHECK(folder.read("said") == "llm: " + sentence + "\n");
    }
    std::vector<double> numbers(const std::string& log, const char* name) const {
        std::vector<double> numbers;
        std::istringstream text(folder.read(log));
        for (std::string line; std::getline(text, line);)
            numbers.push_back(fovea::runtime::parse_json(line).find(name)->number());
        return numbers;
    }
    double nats(const std::string& arguments) const {
        folder.run("./llm score --json " + arguments + " > score");
        return fovea::runtime::parse_json(folder.read("score")).find("nats")->number();
    }
    /// Both files of two trainings.
    void check_equal(const std::string& a, const std::string& b) const {
        CHECK(folder.read(a) == folder.read(b));
        CHECK(folder.read(a + ".checkpoint") == folder.read(b + ".checkpoint"));
    }
};

void check_bits(const Program& program) {
    const std::string options = "--epochs 2 --accumulate 2 --schedule cosine --total-steps 40 ";
    program.train("two", options + "--threads 2 --log two.jsonl");
    for (const char* threads : {"1", "3"}) {
        program.train("other", options + "--threads " + threads);
        program.check_equal("other", "two");
    }
    const std::vector<double> losses = program.numbers("two.jsonl", "loss");
    REQUIRE(losses.size() == 2);
    CHECK(losses[0] < 5.6);  // log(256) is 5.55
    CHECK(losses[1] < 0.85 * losses[0]);
    // Stopped in the midst of an epoch, and in that of the next.
    for (const char* steps : {"--steps 3", "--steps 9 --resume", "--steps 1000 --resume"})
        program.train("parts", options + steps + " --log parts.jsonl");
    program.check_equal("parts", "two");
    CHECK(program.numbers("parts.jsonl", "loss") == losses);
    program.train("parts", options + "--resume");
    CHECK(program.folder.read("said").find("nothing left to train after 2 epochs") !=
          std::string::npos);
}

void check_held_out(const Program& program) {
    program.train("held", "--epochs 3 --validation 0.2 --patience 1 --log held.jsonl");
    const std::vector<double> losses = program.numbers("held.jsonl", "validation_loss");
    REQUIRE(losses.size() == 3);
    CHECK(losses[2] < losses[0]);
    CHECK(program.folder.read("said").find("held out windows") != std::string::npos);
    // One that ends in its first epoch is measured all the same.
    program.train("short", "--steps 2 --validation 0.2 --log short.jsonl");
    CHECK(program.numbers("short.jsonl", "validation_loss").size() == 1);
}

void check_texts(const Program& program) {
    CHECK(program.nats("--weights two --data text") < 4.5);
    CHECK(program.nats("--weights two.checkpoint 'A model is'") ==
          program.nats("--weights two 'A model is'"));
    const auto lines =
        program.folder.lines_of("./llm generate --weights two --max-tokens 12 'A model'");
    REQUIRE(lines.size() >= 1);
    CHECK(!lines[0].empty());
    // From weights that are there, a training goes on: the first loss is that of the last.
    program.train("more", "--init two --epochs 1 --lr 1e-9 --log more.jsonl");
    const double before = program.nats("--weights two --data text --window 32");
    CHECK(program.numbers("more.jsonl", "loss")[0] == doctest::Approx(before).epsilon(1e-4));
}

void check_words(const Program& program) {
    std::ofstream(program.folder.path / "tokenizer.json") << R"({"version": "1.0",
        "added_tokens": [], "normalizer": null, "post_processor": null, "decoder": null,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "WordLevel",
        "vocab": {"?": 0, "the": 1, "of": 2, "a": 3, "is": 4, "model": 5}, "unk_token": "?"}})";
    program.train("words", "--tokenizer tokenizer.json --epochs 1");
    CHECK(program.folder.lines_of("./llm score --weights words 'the model is a model'")[0]
              .starts_with("4 tokens, "));
    program.train("more", "--init words --steps 1");
    const auto weights = fovea::runtime::read_safetensors((program.folder.path / "more").string());
    CHECK(weights.metadata_at("tokens") == "tokenizer.json");
    program.refuses("train --data text --weights words --len 32 --lr 0.003 --epochs 2 --resume",
                    "'words.checkpoint' was trained on other tokens; --resume needs the same "
                    "--tokenizer");
}

/// Every command reads `config.json` of a folder of weights, `run` among them.
void check_settings(const Program& program) {
    program.folder.run("mkdir -p folder && cp two folder/model.safetensors");
    program.folder.run("echo '{\"rms_norm_eps\": 0.01}' > folder/config.json");
    for (const char* command : {"run --weights folder --inputs two --outputs none",
                                "generate --weights folder x", "score --weights folder x"})
        program.refuses(command,
                        "'folder/config.json' has rms_norm_eps = 0.01, and this llama was built "
                        "with 1e-06: build one with `--checkpoint folder`, or give the file of the "
                        "weights alone");
    program.folder.run("test ! -e none");
    program.refuses("run --weights folder/model.safetensors --inputs two --outputs none",
                    "'two' lacks the input 'ids'");
}

void check_mistakes(const Program& program) {
    program.refuses("train --data none --weights w",
                    "cannot read 'none': No such file or directory");
    program.refuses("train --data text --weights text",
                    "--data and --weights are one file, 'text'");
    program.refuses("train --data text --weights w --init two --tokenizer .. --steps 1",
                    "'..' is a folder without tokenizer.json");
    program.folder.run("printf x > one");
    program.refuses("train --data one --weights w",
                    "the data has 1 tokens, too few for a window of 1 and the token behind it");
    program.refuses("train --data text --weights w --adapter two",
                    "--adapter is for programs that were built with --lora: this llama was not");
    program.folder.run("printf 'caf\\351 is a place' > latin");
    CHECK(program.nats("--weights two --data latin") < 10);  // bytes are read as they are
    // Bits a byte are of texts whose bytes are all known.
    program.folder.run("./llm score --weights two --ids 1,2,3 --data text > said");
    CHECK(program.folder.read("said").find("bits a byte") == std::string::npos);
    // Weights that can be read but once.
    program.folder.run("bash -c './llm score --weights <(cat two) x yz > said'");
    program.refuses("train --data text --weights w --schedule cosine",
                    "--schedule cosine needs --total-steps, after which the rate is 0");
    program.refuses("train --data text --weights two --len 31 --resume",
                    "'two.checkpoint' was made with --len 32, but this run has --len 31; --resume "
                    "needs the same");
}

/// What is made of the weights of a training knows its tokens, too.
void check_quantized(const Program& program) {
    program.folder.build("llama",
                         std::string("-o llm8 --set weights=int8 --set vocab_size=256") + kSizes);
    program.folder.run("./llm8 quantize --weights two -o small > said");
    program.folder.run("./llm8 score --json --weights small --data text > score");
    CHECK(fovea::runtime::parse_json(program.folder.read("score")).find("nats")->number() ==
          doctest::Approx(program.nats("--weights two --data text")).epsilon(0.01));
    program.folder.run("./llm8 train --data text --weights w > said 2>&1; test $? = 2");
    CHECK(
        program.folder.read("said") ==
        "llm8: this llama was built with --set weights=int8:32, and such weights are not trained: "
        "build one without, and quantize what it has trained\n");
}

/// Those of `--help`, in a folder that has the files they read.
void run_examples_of_train(const Program& program) {
    program.folder.run(
        "mkdir -p examples/DIR && head -c 3000 text > examples/book.txt && cp two "
        "examples/DIR/model.safetensors");
    program.folder.run("./llm train --help > help");
    const std::vector<ShownExample> examples = examples_in(program.folder.read("help"));
    CHECK(examples.size() >= 2);
    for (const ShownExample& example : examples)
        program.folder.run("cd examples && PATH=..:$PATH && " + example.command +
                           " > /dev/null 2>&1");
}

/// One that PEFT reads, and what is said of another rank.
void check_folder_of_peft(const Program& program) {
    program.folder.run("mkdir -p peft && rm -f peft/*");
    program.train("peft/adapter_model.safetensors", "--init start --steps 2");
    program.folder.run("./llm score --weights start --adapter peft 'A model is' > said");
    const std::string config = program.folder.read("peft/adapter_config.json");
    CHECK(config.find("\"r\":4,") != std::string::npos);
    CHECK(config.find("\"target_modules\":[\"down_proj\",\"gate_proj\",\"k_proj\",") !=
          std::string::npos);
    program.folder.run("sed -i 's/\"lora_alpha\":8/\"lora_alpha\":16/' peft/adapter_config.json");
    program.refuses("score --weights start --adapter peft x",
                    "'peft/adapter_config.json' has lora_alpha = 16, but this program was built "
                    "with --lora-alpha 8: build one with the same");
}

/// One with a whole head beside its pairs, as PEFT saves what it has trained so.
void check_whole_tensor(const Program& program) {
    const auto read = [&](const char* name) {
        return fovea::runtime::read_safetensors((program.folder.path / name).string());
    };
    const auto pairs = read("pairs"), third = read("third");
    std::vector<fovea::runtime::TensorView> tensors = pairs.tensors();
    tensors.push_back(*third.find("lm_head.weight"));
    tensors.back().name = "base_model.model.lm_head.weight";
    fovea::runtime::write_safetensors((program.folder.path / "whole").string(), tensors,
                                      pairs.metadata());
    program.folder.run("./llm merge --weights start --adapter whole --output merged 2> said");
    CHECK(program.folder.read("said").empty());
    const auto merged = read("merged"), start = read("start");
    const auto is_head_of = [&](const fovea::runtime::SafetensorsFile& file) {
        return std::ranges::equal(merged.find("lm_head.weight")->bytes,
                                  file.find("lm_head.weight")->bytes);
    };
    CHECK(is_head_of(third));
    CHECK(!is_head_of(start));
    program.refuses("train --data text --weights w --init start --adapter whole",
                    "'whole' has all of 'lm_head.weight', and a training writes pairs alone: merge "
                    "it into the weights, and train beside these");
}

/// Weights that do not say what their tokens are have those of the pairs trained beside them.
void check_tokens_of_pairs(const Program& program, const std::string& measured, double nats) {
    const auto start = fovea::runtime::read_safetensors((program.folder.path / "start").string());
    fovea::runtime::write_safetensors((program.folder.path / "plain").string(), start.tensors());
    CHECK(program.nats("--weights plain --adapter pairs " + measured) == nats);
    program.folder.run("./llm merge --weights plain --adapter pairs --output whole");
    program.folder.run("./base score --weights whole 'a text' > said");
}

}  // namespace

TEST_CASE("a language model is trained, goes on with texts, and says how likely they are") {
    const Program program;
    program.folder.run("cp '" + (kSource / "README.md").string() + "' text");
    program.build_plain("llm");
    check_bits(program);
    check_held_out(program);
    check_texts(program);
    check_words(program);
    check_settings(program);
    check_mistakes(program);
    check_quantized(program);
    run_examples_of_train(program);
}

TEST_CASE("pairs are trained beside weights that stay, and are merged into them") {
    if (!fovea::test::has_turn(0, 2)) return;
    const Program program;
    program.folder.run("cp '" + (kSource / "README.md").string() + "' text");
    program.build_plain("base");
    program.folder.build("llama", std::string("-o llm --lora 4 --set vocab_size=256") + kSizes);
    program.refuses("train --data text --weights w",
                    "this llama was built with --lora: give the weights that it trains beside by "
                    "--init");
    program.folder.run(
        "./base train --data text --weights start --len 32 --lr 0.003 --steps 20 > said 2>&1");
    const std::string options = "--init start --lr 0.01 --epochs 2 ";
    program.train("pairs", options + "--threads 2 --log pairs.jsonl");
    program.train("other", options + "--threads 1");
    program.check_equal("other", "pairs");
    program.train("parts", options + "--steps 5");
    program.train("parts", options + "--resume");
    program.check_equal("parts", "pairs");
    const std::string measured = "--data text --window 32 ";
    const double before = program.nats("--weights start " + measured);
    const double after = program.nats("--weights start --adapter pairs " + measured);
    CHECK(after < before - 0.01);
    CHECK(program.numbers("pairs.jsonl", "loss")[1] < before);
    check_tokens_of_pairs(program, measured, after);
    program.folder.run(
        "./base train --data text --weights third --init start --len 32 --steps 1 > "
        "said 2>&1");
    program.refuses(
        "train --data text --weights pairs --len 32 --init third --lr 0.01 --epochs 3 "
        "--resume",
        "'pairs.checkpoint' was trained beside other weights than those of --init; "
        "--resume needs the same");
    check_folder_of_peft(program);
    check_whole_tensor(program);
    // The file has the pairs alone, as PEFT names them.
    const auto pairs = fovea::runtime::read_safetensors((program.folder.path / "pairs").string());
    CHECK(pairs.tensors().size() == 2 * 2 * 7);
    const auto* first =
        pairs.find("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
    REQUIRE(first);
    CHECK(first->shape == std::vector<std::int64_t>{4, 32});
    program.folder.run("./llm merge --weights start --adapter pairs --output merged");
    program.folder.run("./base score --json --weights merged " + measured + "> score");
    CHECK(fovea::runtime::parse_json(program.folder.read("score")).find("nats")->number() ==
          doctest::Approx(after).epsilon(1e-6));
    program.folder.run("./base score --weights start --adapter pairs x > said 2>&1; test $? = 2");
    CHECK(program.folder.read("said") ==
          "base: --adapter is for programs that were built with --lora: this llama was not\n");
}

TEST_CASE("a vocabulary or a table of positions that is too small for a training is told") {
    if (!fovea::test::has_turn(1, 2)) return;
    const Program program;
    program.folder.run("cp '" + (kSource / "README.md").string() + "' text");
    program.folder.build("gpt2",
                         "-o small --set vocab_size=100 --set n_positions=20 --set n_embd=16 "
                         "--set n_head=2 --set n_layer=1 --isa native");
    const auto said = [&](const std::string& options) {
        program.folder.run("./small train --data text --weights w " + options +
                           " > said 2>&1; test $? = 2");
        return program.folder.read("said");
    };
    CHECK(said("") ==
          "small: texts are read as bytes, with ids up to 255, but this gpt2 has a vocabulary of "
          "100: build it with --set vocab_size=256, or give --tokenizer\n");
    CHECK(said("--len 21") ==
          "small: a window of --len has 21 tokens, but this gpt2 reads 20 at most (n_positions)\n");
}
