// `translate`: sentences from the command line or standard input, one line out for each.
#include <sys/types.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "../error.h"
#include "../options.h"
#include "../text/preprocess.h"
#include "../threads.h"
#include "commands.h"
#include "sentence_translator.h"

namespace fovea::runtime {

namespace {

Options translate_options(const std::string& program) {
    using Kind = OptionKind;
    Options options(program + " translate",
                    "Translates sentences, else the lines of standard input, one line for each.",
                    "[SENTENCE…]");
    options.add({"weights", Kind::text, "F", "the weights that train wrote", {}, true})
        .add({"steps", Kind::positive_whole, "N", "words of the longest translation", "10"})
        .add({"threads", Kind::positive_whole, "N", "(default one per core)"});
    return options;
}

/// The words of a sentence; errors name its `place`.
std::vector<std::string> words_of(const std::string& sentence, const std::string& place) {
    try {
        return split_words(preprocess(sentence));
    } catch (const UserError& error) {
        throw UserError(place + ": " + error.what());
    }
}

void warn_if_long(const std::vector<std::string>& words, std::int64_t steps,
                  const std::string& place) {
    if (words.size() <= static_cast<std::size_t>(steps)) return;
    std::fprintf(stderr, "warning: %s has %zu words, more than --steps %lld; translated whole\n",
                 place.c_str(), words.size(), static_cast<long long>(steps));
}

void print_line(const std::vector<std::string>& words) {
    const std::string line = join_words(words) + "\n";
    const bool is_written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
    if (!is_written || std::fflush(stdout) != 0) {
        throw UserError("cannot write to standard output");
    }
}

/// The next line of standard input without its end, or nothing.
std::optional<std::string> read_line() {
    char* buffer = nullptr;
    std::size_t capacity = 0;
    const ssize_t length = ::getline(&buffer, &capacity, stdin);
    const std::unique_ptr<char, void (*)(void*)> owner(buffer, std::free);
    if (length < 0) {
        if (std::ferror(stdin)) throw UserError("cannot read standard input");
        return std::nullopt;
    }
    std::string line(buffer, static_cast<std::size_t>(length));
    if (line.ends_with('\n')) line.pop_back();
    return line;
}

std::vector<std::vector<std::string>> sentences_of(const std::vector<std::string>& arguments) {
    std::vector<std::vector<std::string>> sentences;
    for (const std::string& argument : arguments) {
        const std::string place = "sentence " + std::to_string(sentences.size() + 1);
        sentences.push_back(words_of(argument, place));
        if (sentences.back().empty()) {
            throw UserError(place +
                            " is empty; give a sentence with words, or none to translate "
                            "standard input");
        }
    }
    return sentences;
}

void translate_sentences(SentenceTranslator& translator, std::int64_t steps,
                         const std::vector<std::vector<std::string>>& sentences) {
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        warn_if_long(sentences[i], steps, "sentence " + std::to_string(i + 1));
        print_line(translator.translate(sentences[i]));
    }
}

void translate_lines(SentenceTranslator& translator, std::int64_t steps) {
    for (std::size_t number = 1; const auto line = read_line(); ++number) {
        const std::string place = "line " + std::to_string(number);
        const std::vector<std::string> words = words_of(*line, place);
        warn_if_long(words, steps, place);
        print_line(translator.translate(words));
    }
}

}  // namespace

int translate_command(const std::string& program, Arguments arguments, const Model& model) {
    Options options = translate_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    set_threads(options.given("threads") ? options.integer("threads") : thread_count());
    const auto sentences = sentences_of(options.positional());
    const std::int64_t steps = options.integer("steps");
    SentenceTranslator translator(options.text("weights"), model, steps);
    if (sentences.empty()) {
        translate_lines(translator, steps);
    } else {
        translate_sentences(translator, steps, sentences);
    }
    return 0;
}

}  // namespace fovea::runtime
