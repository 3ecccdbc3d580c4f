// From a file of pairs to numbers.
#include "pair_data.h"

#include <utility>

#include "../../error.h"
#include "../../text/byte_pair_file.h"

namespace fovea::runtime {

namespace {

Vocabulary count_words(const std::vector<std::vector<std::string>>& sentences,
                       std::int64_t min_freq, const std::string& side, const std::string& path) {
    Vocabulary vocabulary = Vocabulary::count(sentences, min_freq);
    if (vocabulary.size() == Vocabulary().size()) {
        throw UserError("no " + side + " word of '" + path + "' occurs " +
                        std::to_string(min_freq) + " times; lower --min-freq");
    }
    return vocabulary;
}

void verify_vocabulary(const SafetensorsFile& file, const Vocabulary& stored,
                       const Vocabulary& counted, const std::string& side) {
    if (stored == counted) return;
    throw UserError(
        "'" + file.path() + "' has a " + side + " vocabulary of " + std::to_string(stored.size()) +
        " words, the data one of " + std::to_string(counted.size()) +
        (stored.size() == counted.size() ? " others" : "") + "; --resume needs the same data");
}

}  // namespace

Corpus read_corpus(const std::string& path, std::size_t limit, const Tokenizer& source,
                   const Tokenizer& target) {
    const std::vector<SentencePair> pairs = read_pairs(path, limit);
    Corpus corpus = tokenize(pairs, source, target);
    if (corpus.size() == 0) {
        throw UserError("'" + path + "' holds no pair with words on both sides (of " +
                        std::to_string(pairs.size()) + " pairs)");
    }
    return corpus;
}

PairData read_pair_data(const std::string& path, const PairOptions& options) {
    const TokenSource& tokens = options.tokens;
    PairData::Words words{.min_freq = tokens.min_freq};
    if (!tokens.pieces.empty()) {
        PieceFile file = read_piece_file(tokens.pieces);
        words.kind = file.kind;
        words.source = std::move(file.source);
        words.target = std::move(file.target);
    }
    const std::string origin = "'" + tokens.pieces + "'";
    const Corpus corpus =
        read_corpus(path, options.limit, Tokenizer(words.kind, words.source, origin),
                    Tokenizer(words.kind, words.target, origin));
    if (words.kind == TokenKind::words) {
        words.source = count_words(corpus.sources, tokens.min_freq, "source", path);
        words.target = count_words(corpus.targets, tokens.min_freq, "target", path);
    }
    Examples pairs = number_examples(corpus, words.source, words.target, options.steps);
    pairs.whole_sources = options.whole_sources;
    return {std::move(words), std::move(pairs), options.group};
}

std::vector<DataOption> PairData::options() const {
    return {{"steps", static_cast<std::int64_t>(pairs_.steps), 10},
            {"group-lengths", group_, 1},
            {"min-freq", words_.min_freq, 2}};
}

LoadedBatch PairData::load(Instance& instance, std::span<const std::uint32_t> batch,
                           std::span<const std::uint32_t> /*step*/) const {
    const BatchSteps steps = needed_steps(pairs_, batch);
    instance.bind({{"batch", static_cast<std::int64_t>(batch.size())},
                   {"src_len", static_cast<std::int64_t>(steps.source)},
                   {"tgt_len", static_cast<std::int64_t>(steps.target)}});
    const auto input = [&](const char* name) {
        return instance.has_input(name) ? instance.input<std::int32_t>(name) : nullptr;
    };
    const std::int64_t tokens = fill_batch(
        pairs_, batch,
        {steps, input("src"), input("src_lens"), input("tgt"), input("labels"), input("tgt_lens")});
    if (!instance.has_input("tgt_lens")) return {.tokens = tokens, .steps = steps.target};
    // The loss to differentiate is the mean over all steps; the program takes that over fewer.
    const auto loss_steps = static_cast<double>(steps.target);
    return {.tokens = tokens,
            .steps = steps.target,
            .nats = loss_steps,
            .share = loss_steps / static_cast<double>(pairs_.steps)};
}

void PairData::arrange(std::span<std::uint32_t> order, std::size_t batch, std::uint64_t seed,
                       std::uint64_t epoch) const {
    if (group_ > 1)
        group_by_length(order, pairs_, batch, batch * static_cast<std::size_t>(group_), seed,
                        epoch);
}

Metadata PairData::metadata() const {
    return header_metadata({.source = words_.source,
                            .target = words_.target,
                            .steps = pairs_.steps,
                            .tokens = words_.kind});
}

void PairData::verify_kind(const SafetensorsFile& checkpoint) const {
    const WeightsHeader header = read_header(checkpoint);
    if (header.tokens != words_.kind)
        throw UserError(
            "'{}' was trained on {}, but this run is on {}; --resume needs the same "
            "--bpe",
            {checkpoint.path(), name_of(header.tokens), name_of(words_.kind)});
}

void PairData::verify_tokens(const SafetensorsFile& checkpoint) const {
    const WeightsHeader header = read_header(checkpoint);
    verify_vocabulary(checkpoint, header.source, words_.source, "source");
    verify_vocabulary(checkpoint, header.target, words_.target, "target");
}

}  // namespace fovea::runtime
