// From a file of pairs to numbers.
#include "training_data.h"

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

TrainingData read_training_data(const std::string& path, std::size_t limit,
                                const TokenSource& tokens, std::size_t steps) {
    TrainingData data;
    if (!tokens.pieces.empty()) {
        PieceFile file = read_piece_file(tokens.pieces);
        data.tokens = file.kind;
        data.source = std::move(file.source);
        data.target = std::move(file.target);
    }
    const std::string origin = "'" + tokens.pieces + "'";
    const Corpus corpus = read_corpus(path, limit, Tokenizer(data.tokens, data.source, origin),
                                      Tokenizer(data.tokens, data.target, origin));
    if (data.tokens == TokenKind::words) {
        data.source = count_words(corpus.sources, tokens.min_freq, "source", path);
        data.target = count_words(corpus.targets, tokens.min_freq, "target", path);
    }
    data.examples = number_examples(corpus, data.source, data.target, steps);
    return data;
}

}  // namespace fovea::runtime
