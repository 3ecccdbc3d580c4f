#include "score_command.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "../checkpoint/read_checkpoint.h"
#include "../device/choose_device.h"
#include "../error.h"
#include "../files/json.h"
#include "../options.h"
#include "../runner/bind_dims.h"
#include "../runner/threads_option.h"
#include "../trainer/weights_header.h"
#include "adapter.h"
#include "prompts.h"
#include "text_scorer.h"
#include "text_sizes.h"
#include "text_tokens.h"

namespace fovea::runtime {

namespace {

Options score_options(const std::string& program) {
    Options options(program + " score",
                    "Says how likely texts are: nats and bits a token; without a text, of standard "
                    "input.",
                    "[TEXT…]");
    add_prompt_options(options);
    options.add(adapter_option())
        .add({.name = "data",
              .kind = OptionKind::text,
              .value_name = "FILE",
              .help = "a text, the whole file",
              .repeated = true})
        .add({.name = "window",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "how many tokens are read at once, or all positions of the model where these "
                      "are fewer: later ones do not see earlier ones",
              .default_text = "512",
              .most = 1 << 24})
        .add({.name = "json", .help = "print JSON"})
        .add(device::device_option())
        .add(threads_option())
        .example("a file", "--weights DIR --data book.txt")
        .example("a sentence", "--weights DIR 'Once upon a time'");
    return options;
}

std::int64_t window_of(const Options& options, const Model& model) {
    if (options.integer("window") < 2)
        throw UserError("--window takes two tokens at least: the first one tells of the second");
    return length_within_positions(model, options, "window", "a piece of --window");
}

struct Text {
    Tokens tokens;
    std::size_t bytes = 0;  // 0: not known
};

const TextTokens& tokens_to_read(const std::optional<TextTokens>& tokens) {
    if (!tokens)
        throw UserError(
            "the weights have no tokenizer for texts: give --tokenizer FILE, or the "
            "numbers of all tokens with --ids");
    return *tokens;
}

std::vector<Text> texts_to_score(const Options& options, const std::optional<TextTokens>& tokens) {
    std::vector<Text> texts;
    for (const Tokens& ids : prompts_as_tokens(options)) texts.push_back({ids, 0});
    for (const std::string& path : options.all("data")) {
        const std::string text = tokens_to_read(tokens).read_text(path);
        texts.push_back({tokens->encode(text), text.size()});
    }
    if (texts.empty() || !options.positional().empty())
        for (const std::string& text : prompts_as_texts(options))
            texts.push_back({tokens_to_read(tokens).encode(text), text.size()});
    return texts;
}

/// Of all texts; 0 where they are not known.
std::size_t bytes_of_texts(const std::vector<Text>& texts) {
    std::size_t bytes = 0;
    for (const Text& text : texts) {
        if (text.bytes == 0 && !text.tokens.empty()) return 0;
        bytes += text.bytes;
    }
    return bytes;
}

void print_score(const Score& score, std::size_t bytes, bool as_json) {
    if (score.tokens == 0)
        throw UserError("there is nothing to score: give a text of two tokens at least");
    const double nats = score.nats / static_cast<double>(score.tokens), bits = nats / std::log(2.0);
    const double bits_a_byte =
        bytes ? score.nats / std::log(2.0) / static_cast<double>(bytes) : 0.0;
    if (as_json) {
        Json json{Json::Object{}};
        json.set("tokens", score.tokens).set("nats", nats).set("bits", bits);
        json.set("perplexity", std::exp(nats));
        if (bytes) json.set("bits_a_byte", bits_a_byte);
        std::printf("%s\n", json.text().c_str());
        return;
    }
    std::printf("%lld tokens, %.4f nats (%.4f bits) a token, perplexity %.4g",
                static_cast<long long>(score.tokens), nats, bits, std::exp(nats));
    if (bytes) std::printf(", %.4f bits a byte", bits_a_byte);
    std::printf("\n");
}

}  // namespace

int score_command(const std::string& program, const Model& model,
                  std::span<const char* const> arguments) {
    Options options = score_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    const std::int64_t window = window_of(options, model);
    SafetensorsFile weights = read_checkpoint(model, options.text("weights"));
    const std::vector<Text> texts = texts_to_score(options, text_tokens_of(options, weights, true));
    fit_names(weights, names_of_weights(model));
    verify_trained(weights, model);
    const Model& chosen = device::choose_device(model, options.text("device"));
    Parameters parameters(chosen, dims_of_parameters(chosen, weights));
    WeightsInFile in_file(parameters, weights);
    load_adapted(parameters, weights, options, in_file);
    TextScorer scorer(chosen, parameters);
    Score all;
    for (const Text& text : texts) {
        const Score own = scorer.score(text.tokens, window);
        all.nats += own.nats, all.tokens += own.tokens;
    }
    print_score(all, bytes_of_texts(texts), options.flag("json"));
    return 0;
}

}  // namespace fovea::runtime
