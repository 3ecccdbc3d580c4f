#include "prompts.h"

#include <algorithm>
#include <cstdio>

#include "../checkpoint/checkpoint_folder.h"
#include "../error.h"
#include "adapter.h"

namespace fovea::runtime {

namespace {

/// `5,0,17`.
Tokens read_tokens(const std::string& text, const char* option) {
    Tokens tokens;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        const auto token = parse_integer(text.substr(start, comma - start));
        if (!token || *token < 0 || *token > INT32_MAX)
            throw UserError("{} takes numbers of tokens with commas between them, not '{}'",
                            {option, text});
        tokens.push_back(static_cast<std::int32_t>(*token));
        start = comma + 1;
    }
    return tokens;
}

}  // namespace

void add_prompt_options(Options& options) {
    options
        .add({.name = "weights",
              .kind = OptionKind::text,
              .value_name = "FILE|DIR",
              .help = "safetensors with the parameters, or the folder of a checkpoint",
              .required = true})
        .add({.name = "tokenizer",
              .kind = OptionKind::text,
              .value_name = "FILE",
              .help =
                  "tokenizer.json (default that of the weights: in their folder or in themselves)"})
        .add({.name = "ids",
              .kind = OptionKind::text,
              .value_name = "N,…",
              .help = "a text as the numbers of its tokens",
              .repeated = true});
}

std::optional<TextTokens> text_tokens_of(const Options& options, const SafetensorsFile& weights,
                                         bool takes_adapter) {
    if (options.has("tokenizer")) return TextTokens::of_tokenizer(options.text("tokenizer"));
    if (const std::optional<std::string> path = tokenizer_beside(options.text("weights")))
        return TextTokens::of_tokenizer(*path);
    if (std::optional<TextTokens> trained = TextTokens::of_weights(weights)) return trained;
    // Pairs that were trained beside weights without a tokenizer say what their tokens are.
    if (takes_adapter && options.given("adapter"))
        if (std::optional<TextTokens> trained = tokens_of_adapter(options.text("adapter")))
            return trained;
    if (options.has("ids")) return std::nullopt;
    throw UserError(
        "there is no tokenizer.json beside the weights: give --tokenizer FILE, or the numbers of a "
        "text's tokens with --ids");
}

std::vector<Tokens> prompts_as_tokens(const Options& options) {
    std::vector<Tokens> prompts;
    for (const std::string& text : options.all("ids"))
        prompts.push_back(read_tokens(text, "--ids"));
    if (!prompts.empty() && !options.positional().empty())
        throw UserError("a text is given as it is or with --ids: give either");
    return prompts;
}

std::vector<std::string> prompts_as_texts(const Options& options) {
    if (!options.positional().empty()) return options.positional();
    std::string text;
    for (int c; (c = std::getchar()) != EOF;) text.push_back(static_cast<char>(c));
    while (text.ends_with('\n')) text.pop_back();
    return {text};
}

}  // namespace fovea::runtime
