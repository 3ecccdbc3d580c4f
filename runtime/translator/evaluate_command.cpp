// `evaluate`: loss by teacher forcing, and BLEU of translations, over a file of pairs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "../device/choose_device.h"
#include "../error.h"
#include "../files/json.h"
#include "../options.h"
#include "../runner/threads_option.h"
#include "../text/bleu.h"
#include "../trainer/measure.h"
#include "beam_options.h"
#include "commands.h"
#include "limits.h"
#include "reads_padding.h"
#include "sentence_translator.h"
#include "training/pair_data.h"

namespace fovea::runtime {

namespace {

Options evaluate_options(const std::string& program) {
    using Kind = OptionKind;
    Options options(program + " evaluate",
                    "Measures loss, perplexity and BLEU of trained weights on sentence pairs.");
    options.add({"weights", Kind::text, "F", "the weights that train wrote", {}, true})
        .add({"data", Kind::text, "F.tsv", "UTF-8, a pair a line: source, tab, target", {}, true})
        .add({"json", Kind::flag, "", "print a JSON object"})
        .add(count_option("pairs", "the first N pairs (default all)", kMostExamples))
        .add(count_option("steps", "tokens a sentence is cut to (default as trained)", kMostSteps));
    add_beam_options(options);
    options.add(count_option("batch", "pairs at a time", kMostAtATime, "64"))
        .add(device::device_option())
        .add(threads_option())
        .example("on pairs of sentences", "--weights weights.safetensors --data pairs.tsv")
        .example("with beam search, for programs to read",
                 "--weights weights.safetensors --data pairs.tsv --beam 4 --json");
    return options;
}

/// The mean BLEU of words, k = 2, of translations, `batch` of them side by side.
double mean_bleu(SentenceTranslator& translator, const Corpus& corpus, std::size_t batch) {
    double sum = 0;
    for (std::size_t first = 0; first < corpus.size(); first += batch) {
        const auto sources =
            std::span(corpus.sources).subspan(first, std::min(batch, corpus.size() - first));
        const auto found = translator.translate(sources);
        const Tokenizer& tokenizer = translator.target_tokenizer();
        for (std::size_t i = 0; i < sources.size(); ++i)
            sum += bleu(tokenizer.words(found[i].front().words),
                        tokenizer.words(corpus.targets[first + i]), 2);
    }
    return sum / static_cast<double>(corpus.size());
}

void warn_of_long_pairs(const Corpus& corpus, std::size_t steps) {
    std::size_t cut = 0;
    for (std::size_t i = 0; i < corpus.size(); ++i) {
        const std::size_t words = std::max(corpus.sources[i].size(), corpus.targets[i].size());
        if (words + 1 > steps) ++cut;  // one more for <eos>
    }
    if (cut == 0) return;
    std::fprintf(
        stderr,
        "warning: %zu of %zu pairs have more than --steps %zu tokens; they are cut to their "
        "first %zu\n",
        cut, corpus.size(), steps, steps);
}

void print_report(const Json& report) {
    for (const auto& [name, value] : report.object()) {
        if (value.is_integer()) {
            std::printf("%-10s  %lld\n", name.c_str(), static_cast<long long>(value.integer()));
        } else {
            std::printf("%-10s  %.4f\n", name.c_str(), value.number());
        }
    }
}

}  // namespace

int evaluate_command(const std::string& program, Arguments arguments, const Model& generated) {
    Options options = evaluate_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    const Model model = device::choose_device(generated, options.text("device"));
    SentenceTranslator translator(options.text("weights"), model, beam_settings(options));
    const std::int64_t steps = translator.settings().steps;
    translator.cut_sources(static_cast<std::size_t>(steps));
    const Corpus corpus =
        read_corpus(options.text("data"),
                    options.given("pairs") ? static_cast<std::size_t>(options.integer("pairs")) : 0,
                    translator.source_tokenizer(), translator.target_tokenizer());
    warn_of_long_pairs(corpus, static_cast<std::size_t>(steps));
    const WeightsHeader& header = translator.header();
    Examples examples =
        number_examples(corpus, header.source, header.target, static_cast<std::size_t>(steps));
    examples.whole_sources = reads_padding(model);
    const PairData data({header.tokens, header.source, header.target}, std::move(examples));
    const auto batch = static_cast<std::size_t>(options.integer("batch"));
    Instance instance(model, "evaluate", translator.parameters());
    std::vector<std::uint32_t> all(data.count());
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    const double loss = measure(instance, data, all, batch).loss;
    if (!std::isfinite(loss))
        throw UserError("the loss of '" + options.text("weights") + "' on '" +
                        options.text("data") + "' is not finite");
    const Json report =
        Json::Object{{"loss", loss},
                     {"perplexity", std::exp(loss)},
                     {"bleu", mean_bleu(translator, corpus, sentences_at_a_time(options))},
                     {"pairs", static_cast<std::int64_t>(corpus.size())},
                     {"tokens", data.pairs().target_tokens()}};
    if (options.flag("json")) {
        std::printf("%s\n", report.text().c_str());
    } else {
        print_report(report);
    }
    return 0;
}

}  // namespace fovea::runtime
