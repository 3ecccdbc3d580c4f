#include "generate_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "../device/choose_device.h"
#include "../error.h"
#include "../files/read_weights.h"
#include "../load_parameters.h"
#include "../options.h"
#include "../runner/bind_dims.h"
#include "../runner/threads_option.h"
#include "choose_token.h"
#include "token_decoder.h"

namespace fovea::runtime {

namespace {

using Tokens = std::vector<std::int32_t>;

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

Sampling sampling_of(const Options& options) {
    Sampling sampling{.temperature = options.number("temperature"),
                      .top_k = options.integer("top-k"),
                      .top_p = options.number("top-p"),
                      .seed = static_cast<std::uint64_t>(options.integer("seed"))};
    if (sampling.top_p > 1) throw UserError("--top-p takes a probability, at most 1");
    return sampling;
}

class Generator {
  public:
    Generator(const Model& model, Parameters& parameters, const Options& options)
        : decoder_(model, parameters),
          sampling_(sampling_of(options)),
          most_(options.integer("max-tokens")) {
        for (const std::string& text : options.all("stop"))
            for (std::int32_t token : read_tokens(text, "--stop")) stops_.push_back(token);
    }

    void run(const Tokens& prompt) {
        const auto length = static_cast<std::int64_t>(prompt.size());
        std::span<const float> logits = decoder_.begin(prompt, length + most_ - 1);
        for (std::int64_t i = 0; i < most_; ++i) {
            const std::int32_t token =
                choose_token(logits, sampling_, static_cast<std::uint64_t>(decoder_.position()));
            std::printf(i > 0 ? ",%d" : "%d", static_cast<int>(token));
            if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
            const bool ends = std::ranges::find(stops_, token) != stops_.end();
            if (ends || i + 1 == most_) break;
            logits = decoder_.step(token);
        }
        std::printf("\n");
    }

  private:
    TokenDecoder decoder_;
    Sampling sampling_;
    std::int64_t most_;
    Tokens stops_;
};

Options options_of(const std::string& program) {
    Options options(program + " generate", "Goes on with prompts, a line of tokens for each.");
    options
        .add({.name = "weights",
              .kind = OptionKind::text,
              .value_name = "FILE|DIR",
              .help = "safetensors with the parameters, or the folder of a checkpoint",
              .required = true})
        .add({.name = "ids",
              .kind = OptionKind::text,
              .value_name = "N,…",
              .help = "a prompt: the numbers of its tokens",
              .required = true,
              .repeated = true})
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
              .value_name = "N,…",
              .help = "tokens that end a text",
              .repeated = true})
        .add(device::device_option())
        .add(threads_option())
        .example("twenty tokens, the likeliest each", "--weights DIR --ids 1,15,7 --max-tokens 20")
        .example("drawn, the same each time",
                 "--weights DIR --ids 1,15,7 --temperature 0.8 --top-k 50 --seed 3");
    return options;
}

}  // namespace

int generate_command(const std::string& program, const Model& model,
                     std::span<const char* const> arguments) {
    Options options = options_of(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    if (!TokenDecoder::fits(model))
        throw UserError("{} is no model that goes on with a text", {model.name});
    std::vector<Tokens> prompts;
    for (const std::string& text : options.all("ids"))
        prompts.push_back(read_tokens(text, "--ids"));
    SafetensorsFile weights = read_weights(options.text("weights"));
    fit_names(weights, names_of_parameters(model));
    const Model& chosen = device::choose_device(model, options.text("device"));
    Parameters parameters(chosen, dims_of_parameters(chosen, weights));
    load_parameters(parameters, weights);
    Generator generator(chosen, parameters, options);
    for (const Tokens& prompt : prompts) generator.run(prompt);
    return 0;
}

}  // namespace fovea::runtime
