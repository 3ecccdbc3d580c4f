// `translate`: sentences from the command line or standard input, one line out for each.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "../checkpoint/distinct_paths.h"
#include "../device/choose_device.h"
#include "../error.h"
#include "../files/files.h"
#include "../files/printable.h"
#include "../options.h"
#include "../runner/threads_option.h"
#include "../text/line_reader.h"
#include "../trainer/output_paths.h"
#include "beam_options.h"
#include "commands.h"
#include "limits.h"
#include "saved_maps.h"
#include "sentence_translator.h"

namespace fovea::runtime {

namespace {

Options translate_options(const std::string& program) {
    using Kind = OptionKind;
    Options options(program + " translate",
                    "Translates sentences, else the lines of standard input, one line for each.",
                    "[SENTENCE…]");
    options.add({"weights", Kind::text, "F", "the weights that train wrote", {}, true})
        .add(count_option("steps", "tokens of the longest translation (default as trained)",
                          kMostSteps));
    add_beam_options(options);
    options
        .add(count_option("n-best",
                          "print N translations of each: its number, score and words, by tabs",
                          kMostBeam))
        .add({"attention", Kind::text, "F.svg|F.safetensors",
              "write the attention weights of one sentence, as a picture or as tensors"})
        .add({"scores", Kind::flag, "", "print the score and a tab before each translation"})
        .add(count_option("batch", "sentences decoded side by side", kMostAtATime, "32"))
        .add(device::device_option())
        .add(threads_option())
        .example("a sentence", "--weights weights.safetensors 'I am tired.'")
        .example("the lines of a file, with beam search",
                 "--weights weights.safetensors --beam 4 < sentences.txt")
        .example("a picture of where it looked",
                 "--weights weights.safetensors --attention attention.svg 'I am tired.'");
    return options;
}

/// The tokens of a sentence; errors name its `place`.
Words tokens_of(const Tokenizer& tokenizer, const std::string& sentence, const std::string& place) {
    try {
        return tokenizer.tokens(sentence);
    } catch (const UserError& error) {
        throw UserError(place + ": " + error.what());
    }
}

void warn_if_long(const Words& tokens, TokenKind kind, std::int64_t steps,
                  const std::string& place) {
    if (tokens.size() <= static_cast<std::size_t>(steps)) return;
    std::fprintf(stderr, "warning: %s has %zu %s, more than --steps %lld; translated whole\n",
                 place.c_str(), tokens.size(), kind == TokenKind::words ? "words" : "pieces",
                 static_cast<long long>(steps));
}

void print_translation(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size())
        throw UserError("cannot write to standard output");
}

std::string score_text(double score) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6f", score);
    return text;
}

/// What is printed of a translation besides its words.
struct Format {
    bool scores = false, numbers = false;
};

std::vector<Words> sentences_of(const Tokenizer& tokenizer,
                                const std::vector<std::string>& arguments) {
    std::vector<Words> sentences;
    for (const std::string& argument : arguments) {
        const std::string place = "sentence " + std::to_string(sentences.size() + 1);
        sentences.push_back(tokens_of(tokenizer, argument, place));
        if (sentences.back().empty()) {
            throw UserError(place +
                            " is empty; give a sentence with words, or none to translate "
                            "standard input");
        }
    }
    return sentences;
}

/// Prints the translations of sentences in their order; `kind` and a number name each.
class Printing {
  public:
    Printing(SentenceTranslator& translator, Format format)
        : translator_(translator), format_(format) {}

    /// Returns the best translation of the last one.
    Translation translate(const std::vector<Words>& sentences, const std::string& kind) {
        Translation last;
        for (std::size_t i = 0; i < sentences.size(); ++i)
            warn_if_long(sentences[i], translator_.header().tokens, translator_.settings().steps,
                         kind + std::to_string(done_ + i + 1));
        for (const std::vector<Translation>& best : translator_.translate(sentences)) {
            ++done_;
            for (const Translation& translation : best) print_line(translation);
            last = best.front();
        }
        if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
        return last;
    }
    std::size_t done() const { return done_; }

  private:
    void print_line(const Translation& translation) const {
        std::string line;
        if (format_.numbers) line += std::to_string(done_) + "\t";
        if (format_.scores) line += score_text(translation.score) + "\t";
        print_translation(line + printable(translator_.target_tokenizer().text(translation.words)) +
                          "\n");
    }

    SentenceTranslator& translator_;
    const Format format_;
    std::size_t done_ = 0;
};

/// UserError unless the option names a picture or tensors that can be written, for one sentence,
/// and not the weights.
void verify_attention(const Options& options) {
    const std::string& path = options.text("attention");
    const std::vector<std::string>& sentences = options.positional();
    if (!path.ends_with(".svg") && !path.ends_with(".safetensors"))
        throw UserError(
            "option '--attention' expects a file that ends in .svg or .safetensors, "
            "not '" +
            path + "'");
    if (sentences.size() != 1)
        throw UserError(
            "--attention is for one sentence on the command line, not for " +
            (sentences.empty() ? std::string("standard input") : std::to_string(sentences.size())));
    verify_writable(path);
    verify_distinct({{"--attention", path}}, {{"--weights", options.text("weights")}});
}

void write_attention(SentenceTranslator& translator, const Words& sentence,
                     const Translation& translation, const std::string& path) {
    const std::vector<AttentionMap> maps = translator.attention(sentence, translation);
    const MapTokens tokens = translator.map_tokens(sentence, translation);
    if (path.ends_with(".svg")) write_file_atomically(path, attention_svg(maps, tokens));
    else save_attention_maps(path, {maps, tokens});
}

void translate_sentences(Printing& printing, const std::vector<Words>& sentences,
                         std::size_t batch) {
    for (std::size_t first = 0; first < sentences.size(); first += batch) {
        const std::size_t end = std::min(first + batch, sentences.size());
        printing.translate({sentences.begin() + static_cast<std::ptrdiff_t>(first),
                            sentences.begin() + static_cast<std::ptrdiff_t>(end)},
                           "sentence ");
    }
}

void translate_lines(Printing& printing, const Tokenizer& tokenizer, std::size_t batch) {
    LineReader reader(STDIN_FILENO);
    while (true) {
        std::vector<Words> sentences;
        const std::vector<std::string> lines = reader.read(batch);
        if (lines.empty()) return;
        for (const std::string& line : lines) {
            const std::size_t number = printing.done() + sentences.size() + 1;
            try {
                sentences.push_back(tokens_of(tokenizer, line, "line " + std::to_string(number)));
            } catch (const UserError&) {
                printing.translate(sentences, "line ");
                throw;
            }
        }
        printing.translate(sentences, "line ");
    }
}

}  // namespace

int translate_command(const std::string& program, Arguments arguments, const Model& generated) {
    Options options = translate_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    const Model model = device::choose_device(generated, options.text("device"));
    sentences_of(Tokenizer(), options.positional());  // empty ones are refused before all else
    BeamSettings settings = beam_settings(options);
    const bool lists = options.given("n-best");
    if (lists) settings.best = options.integer("n-best");
    if (settings.best > settings.beam)
        throw UserError("--n-best " + std::to_string(settings.best) + " is more than --beam " +
                        std::to_string(settings.beam) + " follows");
    if (options.given("attention")) verify_attention(options);
    SentenceTranslator translator(options.text("weights"), model, settings);
    const auto sentences = sentences_of(translator.source_tokenizer(), options.positional());
    Printing printing(translator, {options.flag("scores") || lists, lists});
    const auto batch = sentences_at_a_time(options);
    if (options.given("attention")) {
        const std::string& path = options.text("attention");
        const Translation translation = printing.translate(sentences, "sentence ");
        write_attention(translator, sentences.front(), translation, path);
    } else if (sentences.empty()) {
        translate_lines(printing, translator.source_tokenizer(), batch);
    } else {
        translate_sentences(printing, sentences, batch);
    }
    return 0;
}

}  // namespace fovea::runtime
