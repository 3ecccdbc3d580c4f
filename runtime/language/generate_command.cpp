#include "generate_command.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "../device/choose_device.h"
#include "../error.h"
#include "../options.h"
#include "../runner/bind_dims.h"
#include "../runner/threads_option.h"
#include "../trainer/weights_header.h"
#include "adapter.h"
#include "checkpoint_folder.h"
#include "choose_token.h"
#include "prompts.h"
#include "token_decoder.h"

namespace fovea::runtime {

namespace {

Sampling sampling_of(const Options& options) {
    Sampling sampling{.temperature = options.number("temperature"),
                      .top_k = options.integer("top-k"),
                      .top_p = options.number("top-p"),
                      .seed = static_cast<std::uint64_t>(options.integer("seed"))};
    if (sampling.top_p > 1) throw UserError("--top-p takes a probability, at most 1");
    for (const char* name : {"top-k", "top-p", "seed"})
        if (sampling.temperature == 0 && options.given(name))
            throw UserError("--{} is for tokens that are drawn: give --temperature T above 0, too",
                            {name});
    return sampling;
}

class Generator {
  public:
    Generator(const Model& model, Parameters& parameters, const Options& options,
              std::optional<TextTokens> tokens)
        : decoder_(model, parameters),
          sampling_(sampling_of(options)),
          most_(options.integer("max-tokens")),
          tokens_(std::move(tokens)) {
        if (TokenDecoder::has_source(model)) start_ = start_of(options);
        if (!options.flag("ignore-eos")) ends_ = ends_beside(options.text("weights"));
        for (const std::string& text : options.all("stop"))
            stops_.push_back(token_of(text, "--stop"));
    }

    /// The tokens of prompts. UserError where one has none.
    std::vector<Tokens> encode(const std::vector<std::string>& prompts) const {
        std::vector<Tokens> all;
        for (const std::string& prompt : prompts) {
            all.push_back(tokens_->encode(prompt));
            if (!all.back().empty()) continue;
            if (prompts.size() == 1)
                throw UserError("the prompt is empty: give it a word at least");
            throw UserError("prompt {} of {} is empty: give it a word at least",
                            {all.size(), prompts.size()});
        }
        return all;
    }
    /// Prints numbers, with commas between them.
    void continue_tokens(const Tokens& prompt) {
        bool is_first = true;
        run(prompt, [&](std::int32_t token) {
            std::printf(is_first ? "%d" : ",%d", static_cast<int>(token));
            is_first = false;
        });
        std::printf("\n");
    }
    /// Prints the text behind a prompt, or the answer to it.
    void continue_text(const Tokens& ids) {
        tokens::TextStream stream(tokens_->tokenizer());
        // The stream goes on behind the prompt: words are parted as in one text. An answer begins.
        if (!start_)
            for (std::int32_t id : ids) stream.add(id);
        run(ids, [&](std::int32_t token) { print(stream.add(token)); });
        print(stream.finish() + "\n");
    }

  private:
    static void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

    template <class Take>
    void run(const Tokens& prompt, const Take& take) {
        const Tokens begun = start_ ? Tokens{*start_} : prompt;
        const auto length = static_cast<std::int64_t>(begun.size());
        std::span<const float> logits =
            decoder_.begin(start_ ? prompt : Tokens{}, begun, length + most_ - 1);
        check_stops(std::int64_t(logits.size()));
        for (std::int64_t i = 0; i < most_; ++i) {
            const std::int32_t token =
                choose_token(logits, sampling_, static_cast<std::uint64_t>(decoder_.position()));
            take(token);
            if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
            if (ends(token) || i + 1 == most_) break;
            logits = decoder_.step(token);
        }
    }
    bool ends(std::int32_t token) const {
        return std::ranges::find(ends_, token) != ends_.end() ||
               std::ranges::find(stops_, token) != stops_.end();
    }
    void check_stops(std::int64_t vocabulary) const {
        for (std::int32_t token : stops_)
            if (token >= vocabulary)
                throw UserError("--stop {}: the model has the tokens 0 to {}, and ends at no other",
                                {token, vocabulary - 1});
    }
    std::int32_t start_of(const Options& options) const {
        if (options.has("start")) return token_of(options.text("start"), "--start");
        if (const auto start = start_beside(options.text("weights"))) return *start;
        throw UserError(
            "nothing beside the weights says which token texts begin with "
            "(decoder_start_token_id of config.json): give --start TOKEN");
    }
    /// A token by its number, or by its name.
    std::int32_t token_of(const std::string& text, const char* option) const {
        return read_token(text, option, tokens_ ? &*tokens_ : nullptr);
    }

    TokenDecoder decoder_;
    Sampling sampling_;
    std::int64_t most_;
    std::optional<TextTokens> tokens_;
    Tokens ends_, stops_;  // of the checkpoint, of the options
    std::optional<std::int32_t> start_;  // of answers, which models with a source give
};

Options generate_options(const std::string& program, bool has_source) {
    Options options(program + " generate",
                    has_source
                        ? "Answers texts, each in a line; without one, standard input."
                        : "Goes on with texts, each in a line; without one, with standard input.",
                    "[TEXT…]");
    add_prompt_options(options);
    if (has_source)
        options.add({.name = "start",
                     .kind = OptionKind::text,
                     .value_name = "TOKEN",
                     .help =
                         "the token that answers begin with, by its number or its name (default "
                         "that of the checkpoint's config)"});
    options.add(adapter_option())
        .add({.name = "max-tokens",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "how many tokens come at most",
              .default_text = "50",
              .most = 1 << 24})
        .add({.name = "temperature",
              .kind = OptionKind::number_from_zero,
              .value_name = "T",
              .help = "tokens are drawn, logits over T; 0: the likeliest is taken",
              .default_text = "0"})
        .add({.name = "top-k",
              .kind = OptionKind::whole,
              .value_name = "K",
              .help = "of the K likeliest ones; 0: of all",
              .default_text = "0"})
        .add({.name = "top-p",
              .kind = OptionKind::positive_number,
              .value_name = "P",
              .help = "of the fewest that have probability P together",
              .default_text = "1"})
        .add({.name = "seed",
              .kind = OptionKind::whole,
              .value_name = "S",
              .help = "of what is drawn",
              .default_text = "0"})
        .add({.name = "stop",
              .kind = OptionKind::text,
              .value_name = "TOKEN",
              .help = "a token that ends a text, by its number or its name",
              .repeated = true})
        .add({.name = "ignore-eos",
              .help = "go on behind the tokens that end a text by the checkpoint's config"})
        .add(device::device_option())
        .add(threads_option())
        .example("twenty tokens, the likeliest each",
                 "--weights DIR --max-tokens 20 'Once upon a time'")
        .example("drawn, the same each time",
                 "--weights DIR --temperature 0.8 --top-k 50 --seed 3 'Once upon a time'")
        .example("numbers of tokens", "--weights DIR --ids 1,15,7");
    return options;
}

}  // namespace

int generate_command(const std::string& program, const Model& model,
                     std::span<const char* const> arguments) {
    Options options = generate_options(program, TokenDecoder::has_source(model));
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    if (!TokenDecoder::fits(model))
        throw UserError(
            "{} is no model that goes on with a text; fovea show MODEL --program "
            "decode_step says why",
            {model.name});
    const std::vector<Tokens> prompts = prompts_as_tokens(options);
    SafetensorsFile weights = read_checkpoint(model, options.text("weights"));
    std::optional<TextTokens> tokens = text_tokens_of(options, weights);
    fit_names(weights, names_of_weights(model));
    verify_trained(weights, model);
    const Model& chosen = device::choose_device(model, options.text("device"));
    Parameters parameters(chosen, dims_of_parameters(chosen, weights));
    load_adapted(parameters, weights, options);
    Generator generator(chosen, parameters, options, std::move(tokens));
    for (const Tokens& prompt : prompts) generator.continue_tokens(prompt);
    if (prompts.empty())
        for (const Tokens& ids : generator.encode(prompts_as_texts(options)))
            generator.continue_text(ids);
    return 0;
}

}  // namespace fovea::runtime
