// seq2seq_attention as a translator: its encoder runs over padding, and yet a translation depends
// neither on the batch nor on the number of threads.
#include "runtime/files/json.h"
#include "runtime/safetensors.h"
#include "tests/demo/commands.h"
#include "tests/examples.h"

using namespace fovea::test;

namespace {

using Lines = std::vector<std::string>;

void train(const Folder& folder, int threads, const std::string& name) {
    folder.run("rm -f " + name + ".jsonl");
    folder.run("./seq2seq train --data '" + kCorpus.string() + "' --weights " + name + " --log " +
               name + ".jsonl --steps 7 --epochs 12 --threads " + std::to_string(threads) +
               " > /dev/null 2>&1");
}

/// Translations of sentences of many lengths, one longer than the training's steps.
Lines translate(const Folder& folder, const std::string& options) {
    return folder.lines_of("(cut -f1 '" + kCorpus.string() +
                           "' | awk 'NR % 23 == 0'; echo 'i am here and you are there now , "
                           "are you not ?'; echo 'go .') | ./seq2seq translate --weights two "
                           "--scores " +
                           options + " 2> /dev/null");
}

/// Those of the program's `--help`, in a folder that has the files they read.
void run_examples(const Folder& folder) {
    folder.run("mkdir -p examples && cp '" + kCorpus.string() + "' examples/pairs.tsv");
    folder.run("cut -f1 examples/pairs.tsv | head -5 > examples/sentences.txt");
    std::size_t count = 0;
    for (const char* command : {"train", "translate", "evaluate", "bench"}) {
        folder.run(std::string("./seq2seq ") + command + " --help > help");
        const std::vector<ShownExample> examples = examples_in(folder.read("help"));
        CHECK(examples.size() >= 2);
        for (const ShownExample& example : examples) {
            CHECK(example.command.find(std::string("seq2seq ") + command) == 0);
            folder.run("cd examples && PATH=..:$PATH && " + example.command + " > /dev/null 2>&1");
            ++count;
        }
    }
    CHECK(count >= 8);
}

}  // namespace

TEST_CASE("seq2seq_attention trains and translates") {
    const Folder folder("seq2seq_test");
    folder.build("seq2seq_attention",
                 "-o seq2seq --isa native --set embed=16 --set hidden=24 --set layers=2");
    train(folder, 2, "two");
    train(folder, 1, "one");
    CHECK(folder.read("one") == folder.read("two"));
    const std::string log = folder.read("one.jsonl");
    std::vector<double> losses;
    std::istringstream text(log);
    for (std::string line; std::getline(text, line);)
        losses.push_back(fovea::runtime::parse_json(line).find("loss")->number());
    REQUIRE(losses.size() == 12);
    CHECK(losses.back() < 0.8 * losses.front());

    const Lines greedy = translate(folder, "");
    CHECK(greedy.size() > 20);
    for (const char* options : {"--beam 1", "--batch 1", "--batch 5 --threads 1"})
        CHECK(translate(folder, options) == greedy);
    CHECK(translate(folder, "--beam 3 --batch 4") == translate(folder, "--beam 3 --batch 1"));

    folder.run(
        "./seq2seq translate --weights two --attention map.safetensors 'go .' > translation");
    const auto maps = fovea::runtime::read_safetensors((folder.path / "map.safetensors").string());
    REQUIRE(maps.tensors().size() == 1);
    CHECK(maps.tensors()[0].name == "decoder.attention.weights");
    CHECK(maps.tensors()[0].shape[0] == 1);
    CHECK(maps.tensors()[0].shape[2] == 3);  // go . <eos>, without padding
    folder.run("./seq2seq evaluate --weights two --data '" + kCorpus.string() +
               "' --steps 7 --json > report 2> /dev/null");
    const auto report = fovea::runtime::parse_json(folder.read("report"));
    CHECK(report.find("loss")->number() < losses.back());
    run_examples(folder);
}
