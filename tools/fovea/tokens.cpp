// `fovea tokens`: texts to the ids of a tokenizer.json, and back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/base/error.h"
#include "runtime/files/printable.h"
#include "runtime/tokens/tokenizer.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"

namespace fovea::tool {

namespace {

using runtime::tokens::JsonTokenizer;
using runtime::tokens::Special;

std::vector<std::int32_t> ids_in_line(const std::string& line) {
    std::vector<std::int32_t> ids;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        const char* const end = word.data() + word.size();
        std::int32_t id = 0;
        const auto [last, error] = std::from_chars(word.data(), end, id);
        if (error != std::errc() || last != end)
            throw UserError(
                fmt::format("--decode expects ids, whole numbers with spaces between "
                            "them, and got '{}'",
                            runtime::printable(word)));
        ids.push_back(id);
    }
    return ids;
}

std::string tokens_of(const JsonTokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
    std::vector<std::string> tokens;
    for (const std::int32_t id : ids) tokens.push_back(tokenizer.token_of(id).value_or(""));
    return runtime::printable(fmt::format("{}", fmt::join(tokens, " ")));
}

/// What is printed of a line.
std::string printed_line(const JsonTokenizer& tokenizer, const Arguments& given,
                         const std::string& line) {
    const Special special = given.has("plain") ? Special::without : Special::with;
    if (given.has("decode")) return tokenizer.decode(ids_in_line(line), special);
    const std::vector<std::int32_t> ids = tokenizer.encode(line, special);
    return given.has("pieces") ? tokens_of(tokenizer, ids) : fmt::format("{}", fmt::join(ids, " "));
}

int print_tokens(const Arguments& given) {
    if (given.positional().empty()) throw UserError("expected a file: fovea tokens tokenizer.json");
    if (given.has("decode") && given.has("pieces"))
        throw UserError("--pieces is of texts, and --decode of ids: leave out one of them");
    const JsonTokenizer tokenizer = JsonTokenizer::read(given.positional().front());
    if (given.has("text")) {
        fmt::print("{}\n", printed_line(tokenizer, given, given.text("text")));
        return 0;
    }
    for (std::string line; std::getline(std::cin, line);)
        fmt::print("{}\n", printed_line(tokenizer, given, line));
    return 0;
}

}  // namespace

Command tokens_command() {
    po::options_description options("Options");
    options.add_options()("text", po::value<std::string>()->value_name("TEXT"),
                          "take this text; standard input, a line at a time, when left out")(
        "pieces", "print the tokens instead of their ids")(
        "plain", "leave out special tokens: none around a text, none in a decoded one")(
        "decode", "take ids and print their text");
    return {{"tokens",
             "cut texts into the tokens of a tokenizer.json",
             "FILE",
             "Prints the ids of a text's tokens, on one line, by a tokenizer.json of Hugging Face.",
             {{"the ids of a text", "fovea tokens tokenizer.json --text \"Hello, world!\""},
              {"the tokens of each line",
               "printf 'one\\ntwo\\n' | fovea tokens tokenizer.json --pieces"},
              {"and back", "echo 39 40 | fovea tokens tokenizer.json --decode"}}},
            options,
            print_tokens};
}

}  // namespace fovea::tool
