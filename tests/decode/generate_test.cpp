// A built decoder goes on with texts as the reference does.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.h"
#include "models/registry.h"
#include "runtime/safetensors.h"
#include "runtime/training/random_stream.h"
#include "tests/decode/random_weights.h"
#include "tests/decode/small_program.h"
#include "tools/fovea/process.h"

using namespace fovea;
using test::kWordCount;
using test::RandomWeights;
using test::write_word_tokenizer;
using tool::ProcessResult;

namespace {

/// The likeliest tokens behind a prompt, each from the whole text before it.
std::vector<int> expected_tokens(const Graph& graph, const RandomWeights& weights,
                                 std::vector<int> text, int count) {
    const std::size_t length = text.size();
    for (int i = 0; i < count; ++i) {
        Interpreter whole(graph);
        weights.set(whole);
        const auto now = std::int64_t(text.size());
        const std::vector<double> ids(text.begin(), text.end());
        whole.set("ids", {{1, now}, ids});
        whole.set("labels", {{1, now}, ids});
        whole.set("lens", {{1}, {double(now)}});
        const std::vector<double>& logits = whole.output("logits").values;
        const auto last = logits.end() - kWordCount;
        text.push_back(int(std::max_element(last, logits.end()) - last));
    }
    return {text.begin() + std::ptrdiff_t(length), text.end()};
}

/// Mean cross entropy of the tokens behind the first.
double nats_of(const Graph& graph, const RandomWeights& weights, const std::vector<int>& text) {
    Interpreter whole(graph);
    weights.set(whole);
    const auto length = std::int64_t(text.size()) - 1;
    whole.set("ids", {{1, length}, {text.begin(), text.end() - 1}});
    whole.set("labels", {{1, length}, {text.begin() + 1, text.end()}});
    whole.set("lens", {{1}, {double(length)}});
    return whole.output("loss").values[0];
}

std::string listed(const std::vector<int>& tokens) {
    std::string list;
    for (int token : tokens) list += (list.empty() ? "" : ",") + std::to_string(token);
    return list;
}

/// Of a program with 150 positions.
void check_positions(const std::string& program, const std::string& weights) {
    const auto ids_of = [](int count) {
        std::string ids = "3";
        for (int i = 1; i < count; ++i) ids += ",3";
        return ids;
    };
    const auto said = [&](const std::string& command, std::vector<std::string> options,
                          int status) {
        options.insert(options.begin(), {program, command, "--weights", weights});
        const ProcessResult result = tool::run_process(options);
        CHECK_MESSAGE(result.status == status, result.output);
        return result.output;
    };
    const auto count_tokens = [](const std::string& lines) {
        return std::ranges::count_if(lines, [](char c) { return c == ',' || c == '\n'; });
    };
    // The last token is not read; each text ends by itself.
    CHECK(count_tokens(said("generate", {"--ids", ids_of(145)}, 0)) == 6);
    CHECK(count_tokens(said("generate", {"--ids", ids_of(150), "--ids", "5"}, 0)) == 1 + 50);
    CHECK(count_tokens(said("generate", {"--ids", ids_of(145), "--max-tokens", "6"}, 0)) == 6);
    const std::string most = "gpt2 reads 150 at most (n_positions)";
    CHECK(said("generate", {"--ids", "5", "--ids", ids_of(145), "--max-tokens", "7"}, 2) ==
          "program: prompt 2 of 2 has 145 tokens and --max-tokens asks for 7, but this " + most +
              ": give --max-tokens 6 at most\n");
    CHECK(said("generate", {"--ids", ids_of(151)}, 2) ==
          "program: the prompt has 151 tokens, but this " + most + "\n");
    CHECK(said("score", {"--ids", ids_of(200)}, 0).starts_with("199 tokens, "));
    CHECK(said("score", {"--ids", "3,3", "--window", "151"}, 2) ==
          "program: a piece of --window has 151 tokens, but this " + most + "\n");
}

/// What is not finite is said, not scored.
void check_weights_not_finite(const std::string& program, const std::string& weights) {
    const runtime::SafetensorsFile file = runtime::read_safetensors(weights);
    std::vector<runtime::TensorView> tensors = file.tensors();
    const std::vector<float> values(tensors[0].bytes.size() / sizeof(float), NAN);
    tensors[0] = runtime::f32_tensor(tensors[0].name, tensors[0].shape, values);
    runtime::write_safetensors(weights + "_nan", tensors, file.metadata());
    const ProcessResult result = tool::run_process(
        {program, "score", "--json", "--weights", weights + "_nan", "--ids", "3,17,5"});
    CHECK(result.status == 2);
    CHECK(result.output ==
          "program: the score of a text is not finite: a weight of the model is not, or is very "
          "large\n");
}

}  // namespace

TEST_CASE("a program generates the likeliest tokens, with windows and without") {
    // mistral sees the last five tokens, by its small settings.
    for (const std::string name : {"mistral", "gpt2"}) {
        CAPTURE(name);
        const ModelEntry& entry = *models::find_model(name);
        const Graph graph = entry.build(entry.small_settings);
        const RandomWeights weights(graph);
        const tool::TemporaryFolder folder;
        const std::string program = (folder.path() / "program").string();
        const std::string file = (folder.path() / "weights").string();
        weights.write(file);
        test::build_small_program(entry, program);
        const auto generated = [&](std::vector<std::string> options) {
            options.insert(options.begin(), {program, "generate", "--weights", file});
            return tool::run_process(options);
        };
        const std::vector<int> tokens = expected_tokens(graph, weights, {3, 17, 5}, 20);
        const std::vector<int> others = expected_tokens(graph, weights, {8}, 20);
        CHECK(generated({"--ids", "3,17,5", "--ids", "8", "--max-tokens", "20"}).output ==
              listed(tokens) + "\n" + listed(others) + "\n");
        // Rows whose text has ended take the next prompt.
        std::vector<std::string> many = {"--max-tokens", "20", "--stop", std::to_string(others[4])};
        std::string one_by_one;
        for (const char* prompt : {"3,17,5", "8", "8,3,3,3,1,4,4,9", "5", "3,17", "28,27"}) {
            many.insert(many.end(), {"--ids", prompt});
            one_by_one += generated({"--max-tokens", "20", "--stop", std::to_string(others[4]),
                                     "--ids", prompt})
                              .output;
        }
        for (const std::string rows : {"1", "2", "4", "8"}) {
            CAPTURE(rows);
            CAPTURE(name);
            many.insert(many.end(), {"--batch", rows});
            CHECK(generated(many).output == one_by_one);
            many.resize(many.size() - 2);
        }
        // What is wrong with a later prompt is said before anything is printed of the first one.
        for (const std::string rows : {"1", "8"}) {
            const ProcessResult wrong =
                generated({"--ids", "3,17,5", "--ids", "8", "--ids", "4,29", "--batch", rows});
            CHECK(wrong.status == 2);
            CHECK(wrong.output ==
                  "program: prompt 3 of 3: input ids[0, 1] is the id 29; ids are from 0 to 28\n");
        }
        const auto end = std::ranges::find(tokens, tokens[7]) + 1;
        CHECK(generated({"--ids", "3,17,5", "--stop", std::to_string(tokens[7])}).output ==
              listed({tokens.begin(), end}) + "\n");
        const std::string drawn =
            generated({"--ids", "8", "--temperature", "1", "--seed", "4", "--threads", "1"}).output;
        CHECK(drawn ==
              generated({"--ids", "8", "--temperature", "1", "--seed", "4", "--threads", "2"})
                  .output);
        CHECK(drawn != generated({"--ids", "8", "--temperature", "1", "--seed", "5"}).output);
        const auto mistake = [&](std::vector<std::string> options, const std::string& said) {
            const ProcessResult result = generated(std::move(options));
            CHECK(result.status == 2);
            CHECK(result.output.find(said) != std::string::npos);
        };
        mistake({"--ids", "3,29"}, "input ids[0, 1] is the id 29; ids are from 0 to 28");
        mistake({"--ids", "3,x"},
                "--ids takes numbers of tokens with commas between them, not '3,x'");
        mistake({"--ids", "3", "--stop", "5", "--stop", "29"},
                "--stop 29: the model has the tokens 0 to 28, and ends at no other");
        mistake({"--ids", "3", "--top-p", "1.5"}, "--top-p takes a probability, at most 1");
        for (const std::string option : {"--top-k", "--top-p", "--seed"})
            mistake({"--ids", "3", option, "1"},
                    option + " is for tokens that are drawn: give --temperature T above 0, too");
        if (name == "gpt2") check_positions(program, file);
        check_weights_not_finite(program, file);
        // A tokenizer of whole words: w0, w1, …
        const std::string words = (folder.path() / "tokenizer.json").string();
        write_word_tokenizer(words);
        std::string said;
        for (int token : tokens) said += " w" + std::to_string(token);
        CHECK(generated({"--tokenizer", words, "--max-tokens", "20", "w3 w17 w5"}).output ==
              said + "\n");
        mistake({"--tokenizer", words, "w3", "", "w5"}, "prompt 2 of 3 is empty");
        const ProcessResult narrow =
            tool::run_process({program, "score", "--weights", file, "--tokenizer", words,
                               "--window", "1", "w3 w17 w5 w20"});
        CHECK(narrow.status == 2);
        CHECK(narrow.output.find("--window takes two tokens at least") != std::string::npos);
        const ProcessResult scored = tool::run_process(
            {program, "score", "--weights", file, "--tokenizer", words, "--json", "w3 w17 w5 w20"});
        REQUIRE_MESSAGE(scored.status == 0, scored.output);
        const nlohmann::json score = nlohmann::json::parse(scored.output);
        CHECK(score["tokens"] == 3);
        CHECK(std::abs(double(score["nats"]) - nats_of(graph, weights, {3, 17, 5, 20})) < 1e-5);
        CHECK(std::abs(double(score["bits"]) * std::log(2.0) - double(score["nats"])) < 1e-12);
        const ProcessResult measured =
            tool::run_process({program, "bench", "batch=1", "len=4", "steps=6"});
        CHECK_MESSAGE(measured.status == 0, measured.output);
        CHECK(measured.output.find("decode_step") != std::string::npos);
    }
}

TEST_CASE("a program with a source answers several texts as it answers each alone") {
    const ModelEntry& entry = *models::find_model("t5");
    const RandomWeights weights(entry.build(entry.small_settings));
    const tool::TemporaryFolder folder;
    const std::string program = (folder.path() / "program").string();
    const std::string file = (folder.path() / "weights").string();
    weights.write(file);
    test::build_small_program(entry, program);
    const auto answered = [&](const std::vector<std::string>& texts) {
        std::vector<std::string> command = {program,   "generate", "--weights",    file,
                                            "--start", "0",        "--max-tokens", "9"};
        for (const std::string& text : texts) command.insert(command.end(), {"--ids", text});
        return tool::run_process(command);
    };
    const ProcessResult both = answered({"3,17,5", "8"});
    REQUIRE_MESSAGE(both.status == 0, both.output);
    CHECK(both.output == answered({"3,17,5"}).output + answered({"8"}).output);
    const ProcessResult wrong = answered({"3,17,5", "8", "4,9999"});
    CHECK(wrong.status == 2);
    CHECK(wrong.output.starts_with("program: prompt 3 of 3: input src[0, 1] is the id 9999; "));
}
