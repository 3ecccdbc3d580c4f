#include "generate_command.h"

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../checkpoint/checkpoint_folder.h"
#include "../checkpoint/read_checkpoint.h"
#include "../device/choose_device.h"
#include "../error.h"
#include "../options.h"
#include "../runner/bind_dims.h"
#include "../runner/threads_option.h"
#include "../trainer/weights_header.h"
#include "adapter.h"
#include "choose_token.h"
#include "continue_texts.h"
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

/// --beams, --length-penalty and --best.
void add_beams_options(Options& options) {
    options
        .add({.name = "beams",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "the likeliest text that N hypotheses find (beam search); 1: the likeliest "
                      "token each",
              .default_text = "1",
              .most = 1 << 10})
        .add({.name = "length-penalty",
              .kind = OptionKind::number,
              .value_name = "P",
              .help = "of beams: of texts that end, the best is that of the highest "
                      "log probability / length^P",
              .default_text = "1"})
        .add({.name = "best",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "of beams: how many texts of each prompt, the best first, each in a line",
              .default_text = "1",
              .most = 1 << 10});
}

/// UserError where the options do not go with each other, or the model has no beams.
void take_beams(Continuing& continuing, const Options& options, const TokenDecoder& decoder,
                const Model& model) {
    continuing.beams = options.integer("beams");
    continuing.length_penalty = options.number("length-penalty");
    continuing.best = options.integer("best");
    if (continuing.beams == 1) {
        for (const char* name : {"length-penalty", "best"})
            if (options.given(name))
                throw UserError("--{} is for beams: give --beams N above 1, too", {name});
        return;
    }
    if (continuing.best > continuing.beams)
        throw UserError("--best {} asks for more texts than --beams {} finds",
                        {continuing.best, continuing.beams});
    if (continuing.sampling.temperature > 0)
        throw UserError(
            "--beams looks for the likeliest text and --temperature draws one: give one of them");
    if (const std::string reason = decoder.why_not_beams(); !reason.empty())
        throw UserError("{} has no beams: {}; leave --beams out", {model.name, reason});
}

/// Prints what comes after texts in the order of these: that of the first one which has not ended
/// as it comes, of those behind it when it is their turn.
class InOrder {
  public:
    using Print = std::function<void(std::size_t text, std::int32_t token, bool is_last)>;

    InOrder(std::size_t texts, Print print) : waiting_(texts), print_(std::move(print)) {}

    void take(std::size_t text, std::int32_t token, bool is_last) {
        if (text != first_) {
            waiting_[text].push_back({token, is_last});
            return;
        }
        print_(text, token, is_last);
        for (bool ended = is_last; ended && ++first_ < waiting_.size();) {
            ended = false;
            for (const auto& [later, last] : std::exchange(waiting_[first_], {})) {
                print_(first_, later, last);
                ended = last;
            }
        }
        if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
    }

  private:
    std::vector<std::vector<std::pair<std::int32_t, bool>>> waiting_;  // by text
    std::size_t first_ = 0;
    Print print_;
};

void write_text(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

class Generator {
  public:
    Generator(const Model& model, Parameters& parameters, const Options& options,
              std::optional<TextTokens> tokens)
        : decoder_(model, parameters),
          model_(model),
          continuing_{.sampling = sampling_of(options),
                      .most = options.integer("max-tokens"),
                      .positions = 0,
                      .rows = TokenDecoder::has_source(model) ? 1 : options.integer("batch"),
                      .ends = {}},
          tokens_(std::move(tokens)) {
        if (TokenDecoder::has_source(model)) start_ = start_of(options);
        max_is_given_ = options.given("max-tokens");
        if (const auto positions = most_positions(model); positions && !start_)
            continuing_.positions = positions->count;
        take_beams(continuing_, options, decoder_, model);
        if (!options.flag("ignore-eos")) continuing_.ends = ends_beside(options.text("weights"));
        for (const std::string& text : options.all("stop"))
            stops_.push_back(token_of(text, "--stop"));
        continuing_.ends.insert(continuing_.ends.end(), stops_.begin(), stops_.end());
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
    /// Prints numbers, with commas between them, a line for each text.
    void continue_tokens(const std::vector<Tokens>& prompts) {
        bool is_first = true;
        run(prompts, [&](std::size_t, std::int32_t token, bool is_last) {
            std::printf(is_first ? "%d" : ",%d", static_cast<int>(token));
            if (is_last) std::printf("\n");
            is_first = is_last;
        });
    }
    /// Prints the texts behind prompts, or the answers to them.
    void continue_texts_of(const std::vector<Tokens>& prompts) {
        std::optional<tokens::TextStream> stream;
        run(prompts, [&](std::size_t text, std::int32_t token, bool is_last) {
            if (!stream) {
                stream.emplace(tokens_->tokenizer());
                // It goes on behind the prompt: words are parted as in one text. An answer begins.
                if (!start_)
                    for (std::int32_t id : prompts[text / std::size_t(continuing_.best)])
                        stream->add(id);
            }
            write_text(stream->add(token));
            if (!is_last) return;
            write_text(stream->finish() + "\n");
            stream.reset();
        });
    }

  private:
    void run(const std::vector<Tokens>& texts, const InOrder::Print& print_token) {
        verify_positions(texts);
        std::vector<Prompt> prompts;
        for (const Tokens& text : texts)
            prompts.push_back(start_ ? Prompt{{*start_}, text} : Prompt{text, {}});
        if (prompts.size() > 1) verify_tokens(prompts);
        InOrder printing(texts.size() * std::size_t(continuing_.best), print_token);
        continue_texts(decoder_, prompts, continuing_,
                       [&](std::size_t text, std::int32_t token, bool is_last) {
                           check_stops();
                           printing.take(text, token, is_last);
                       });
    }
    /// Before the first token comes: none would be of a text that does not fit.
    void verify_positions(const std::vector<Tokens>& texts) const {
        const std::optional<MostPositions> positions = most_positions(model_);
        if (!positions || start_) return;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const std::string text = texts.size() == 1 ? "the prompt"
                                                       : "prompt " + std::to_string(i + 1) +
                                                             " of " + std::to_string(texts.size());
            const std::int64_t length = std::ssize(texts[i]);
            verify_length(model_, text, length);
            const std::int64_t most = positions->count - length + 1;
            if (max_is_given_ && continuing_.most > most)
                throw UserError(
                    "{} has {} tokens and --max-tokens asks for {}, but this {} reads {} at most "
                    "({}): give --max-tokens {} at most",
                    {text, length, continuing_.most, model_.name, positions->count,
                     positions->setting, most});
        }
    }
    /// Before the output of any: a token of a later one is no reason to leave others unfinished.
    void verify_tokens(const std::vector<Prompt>& prompts) {
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            try {
                decoder_.verify_tokens(prompts[i].source, prompts[i].tokens);
            } catch (const UserError& error) {
                throw UserError("prompt {} of {}: {}", {i + 1, prompts.size(), error.what()});
            }
        }
    }
    void check_stops() const {
        for (std::int32_t token : stops_)
            if (token >= decoder_.words())
                throw UserError("--stop {}: the model has the tokens 0 to {}, and ends at no other",
                                {token, decoder_.words() - 1});
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
    const Model& model_;
    bool max_is_given_ = false;
    Continuing continuing_;
    std::optional<TextTokens> tokens_;
    Tokens stops_;  // of the options
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
    else
        options.add({.name = "batch",
                     .kind = OptionKind::positive_whole,
                     .value_name = "N",
                     .help = "how many texts are read together, at most",
                     .default_text = "8",
                     .most = 1 << 16});
    options.add(adapter_option())
        .add({.name = "max-tokens",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "how many tokens come at most; fewer where the model has no more positions",
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
              .default_text = "0"});
    add_beams_options(options);
    options
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
        .example("by beam search", "--weights DIR --beams 4 'Once upon a time'")
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
    std::optional<TextTokens> tokens = text_tokens_of(options, weights, true);
    fit_names(weights, names_of_weights(model));
    verify_trained(weights, model);
    const Model& chosen = device::choose_device(model, options.text("device"));
    Parameters parameters(chosen, dims_of_parameters(chosen, weights));
    WeightsInFile in_file(parameters, weights);
    load_adapted(parameters, weights, options, in_file);
    Generator generator(chosen, parameters, options, std::move(tokens));
    if (prompts.empty()) generator.continue_texts_of(generator.encode(prompts_as_texts(options)));
    else generator.continue_tokens(prompts);
    return 0;
}

}  // namespace fovea::runtime
