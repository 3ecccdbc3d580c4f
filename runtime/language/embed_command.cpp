#include "embed_command.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../checkpoint/distinct_paths.h"
#include "../checkpoint/read_checkpoint.h"
#include "../device/choose_device.h"
#include "../error.h"
#include "../load_parameters.h"
#include "../options.h"
#include "../runner/bind_dims.h"
#include "../runner/threads_option.h"
#include "../safetensors.h"
#include "../text/line_reader.h"
#include "../trainer/output_paths.h"
#include "../weights/weights_in_file.h"
#include "prompts.h"
#include "text_encoder.h"
#include "text_sizes.h"

namespace fovea::runtime {

namespace {

Options embed_options(const std::string& program) {
    Options options(program + " embed",
                    "Prints a vector for each text: for each argument, else each line of standard "
                    "input.",
                    "[TEXT…]");
    add_prompt_options(options);
    options
        .add(
            {.name = "pool",
             .kind = OptionKind::text,
             .value_name = "mean|first",
             .help = "what becomes of the vectors of a text's tokens: their mean, or the first one",
             .default_text = "mean"})
        .add({.name = "normalize", .help = "vectors have length 1"})
        .add({.name = "batch",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "how many texts are read at once",
              .default_text = "32",
              .most = 1 << 20})
        .add({.name = "output",
              .kind = OptionKind::text,
              .value_name = "FILE",
              .help = "write safetensors with `vectors` [texts, width] instead of lines",
              .short_name = 'o'})
        .add(device::device_option())
        .add(threads_option())
        .example("a line each", "--weights DIR 'A cat sat down.' 'It purrs.'")
        .example("a file of lines", "--weights DIR --normalize --output vectors.safetensors < F");
    return options;
}

Pooling pooling_of(const Options& options) {
    const std::string name = options.text("pool");
    if (name == "mean") return Pooling::mean;
    if (name == "first") return Pooling::first;
    throw UserError("--pool takes mean or first, not '{}'", {name});
}

/// Takes vectors as they come: prints them, or keeps them for a file.
class Vectors {
  public:
    Vectors(const Options& options, std::int64_t width)
        : path_(options.has("output") ? options.text("output") : ""),
          normalizes_(options.flag("normalize")),
          width_(width) {}

    void take(std::vector<float> vectors) {
        const auto width = static_cast<std::size_t>(width_);
        for (std::size_t first = 0; first < vectors.size(); first += width) {
            const std::span<float> own(vectors.data() + first, width);
            if (normalizes_) normalize(own);
            if (path_.empty()) print(own);
            else all_.insert(all_.end(), own.begin(), own.end());
        }
        if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
    }
    void finish() {
        if (path_.empty()) return;
        const auto count = static_cast<std::int64_t>(all_.size()) / width_;
        write_safetensors(path_, {f32_tensor("vectors", {count, width_}, all_)});
    }

  private:
    static void normalize(std::span<float> vector) {
        double sum = 0;
        for (const float value : vector) sum += double(value) * value;
        if (sum == 0) return;
        for (float& value : vector) value = static_cast<float>(value / std::sqrt(sum));
    }
    static void print(std::span<const float> vector) {
        for (std::size_t i = 0; i < vector.size(); ++i)
            std::printf(i ? " %.9g" : "%.9g", double(vector[i]));
        std::printf("\n");
    }

    std::string path_;
    bool normalizes_;
    std::int64_t width_;
    std::vector<float> all_;  // [texts, width]
};

/// Hands out texts, some at a time: those of the command line, else lines as they come.
class TextsToEmbed {
  public:
    TextsToEmbed(const Options& options, const std::optional<TextTokens>& tokens)
        : tokens_(tokens), lines_(STDIN_FILENO), most_(std::size_t(options.integer("batch"))) {
        given_ = prompts_as_tokens(options);
        reads_lines_ = given_.empty() && options.positional().empty();
        for (const std::string& text : options.positional()) given_.push_back(encoded(text));
    }

    /// None at the end.
    std::vector<Tokens> next() {
        std::vector<Tokens> texts;
        if (reads_lines_) {
            for (const std::string& line : lines_.read(most_)) texts.push_back(encoded(line));
        } else {
            while (texts.size() < most_ && at_ < given_.size()) texts.push_back(given_[at_++]);
        }
        return texts;
    }

  private:
    Tokens encoded(const std::string& text) const {
        Tokens tokens = tokens_->encode(text);
        if (tokens.empty())
            throw UserError("the text '{}' has no tokens, and so no vector", {text});
        return tokens;
    }

    const std::optional<TextTokens>& tokens_;
    LineReader lines_;
    std::size_t most_, at_ = 0;
    std::vector<Tokens> given_;
    bool reads_lines_ = false;
};

/// How many texts stand before the first that is too long for the model: these get vectors.
std::size_t count_fitting(const Model& model, const std::vector<Tokens>& texts) {
    const std::optional<MostPositions> most = most_positions(model);
    const auto is_long = [&](const Tokens& text) { return most && std::ssize(text) > most->count; };
    const auto first = std::ranges::find_if(texts, is_long);
    return static_cast<std::size_t>(first - texts.begin());
}

/// The vectors of texts behind the first `count` ones. Where one has a token that the model has
/// not, those of the texts before it, and UserError with its number.
void take_vectors(TextEncoder& encoder, std::span<const Tokens> texts, Pooling pooling,
                  std::size_t count, Vectors& vectors) {
    try {
        return vectors.take(encoder.encode(texts, pooling));
    } catch (const UserError&) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            try {
                encoder.verify_tokens(texts[i]);
            } catch (const UserError& error) {
                vectors.take(encoder.encode(texts.first(i), pooling));
                throw UserError("text {}: {}", {count + i + 1, error.what()});
            }
        }
        throw;
    }
}

}  // namespace

int embed_command(const std::string& program, const Model& model,
                  std::span<const char* const> arguments) {
    Options options = embed_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    const Pooling pooling = pooling_of(options);
    if (options.has("output")) verify_writable(options.text("output"));
    SafetensorsFile weights = read_checkpoint(model, options.text("weights"));
    if (options.has("output"))
        verify_distinct({{"--output", options.text("output")}},
                        {{"--weights", options.text("weights")}});
    const std::optional<TextTokens> tokens = text_tokens_of(options, weights);
    fit_names(weights, names_of_parameters(model));
    const Model& chosen = device::choose_device(model, options.text("device"));
    Parameters parameters(chosen, dims_of_parameters(chosen, weights));
    WeightsInFile in_file(parameters, weights);
    in_file.load();
    TextEncoder encoder(chosen, parameters);
    Vectors vectors(options, encoder.width());
    TextsToEmbed texts(options, tokens);
    std::size_t count = 0;
    for (std::vector<Tokens> some = texts.next(); !some.empty(); some = texts.next()) {
        const std::size_t fitting = count_fitting(model, some);
        take_vectors(encoder, std::span(some).first(fitting), pooling, count, vectors);
        count += fitting;
        if (fitting < some.size())
            verify_length(model, "text " + std::to_string(count + 1), std::ssize(some[fitting]));
    }
    vectors.finish();
    return 0;
}

}  // namespace fovea::runtime
