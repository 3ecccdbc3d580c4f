// d2l's `build_array_nmt` and `load_data_nmt` (section 10.5), with batches of like lengths.
#include "batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "../error.h"
#include "../trainer/fingerprint.h"
#include "../training/random_stream.h"

namespace fovea::runtime {

namespace {

// Appends the sentence's row to `rows`, and its length to `lengths`.
void append_row(std::vector<std::int32_t> ids, std::size_t steps, std::vector<std::int32_t>& rows,
                std::vector<std::int32_t>& lengths) {
    ids.push_back(kEnd);
    lengths.push_back(static_cast<std::int32_t>(std::min(ids.size(), steps)));
    ids.resize(steps, kPad);
    rows.insert(rows.end(), ids.begin(), ids.end());
}

// Above those of the orders of epochs.
constexpr std::uint32_t kGroupStream = 0xC0000000;

/// By falling key, so that what remains of a sorted list are its shortest.
template <class Key>
std::vector<std::uint32_t> sorted_by(std::span<const std::uint32_t> numbers, const Key& key) {
    std::vector<std::uint32_t> sorted(numbers.begin(), numbers.end());
    std::vector<std::size_t> places(numbers.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        const auto left = key(numbers[a]), right = key(numbers[b]);
        return left != right ? left > right : a < b;
    });
    for (std::size_t i = 0; i < places.size(); ++i) sorted[i] = numbers[places[i]];
    return sorted;
}

}  // namespace

Corpus tokenize(const std::vector<SentencePair>& pairs, const Tokenizer& source,
                const Tokenizer& target) {
    Corpus corpus;
    for (const SentencePair& pair : pairs) {
        std::vector<std::string> sources = source.tokens(pair.source);
        std::vector<std::string> targets = target.tokens(pair.target);
        if (sources.empty() || targets.empty()) continue;
        corpus.sources.push_back(std::move(sources));
        corpus.targets.push_back(std::move(targets));
    }
    return corpus;
}

std::int64_t Examples::target_tokens() const {
    return std::accumulate(target_lengths.begin(), target_lengths.end(), std::int64_t{0});
}

std::uint64_t Examples::fingerprint() const {
    return fingerprint_of({sources, source_lengths, targets, target_lengths});
}

Examples number_examples(const Corpus& corpus, const Vocabulary& source_words,
                         const Vocabulary& target_words, std::size_t steps) {
    constexpr std::size_t kMostSteps = std::size_t{1} << 20;
    if (steps > kMostSteps) {
        throw UserError("--steps " + std::to_string(steps) + " is more than the most, " +
                        std::to_string(kMostSteps));
    }
    Examples examples;
    examples.count = corpus.size();
    examples.steps = steps;
    for (std::size_t i = 0; i < corpus.size(); ++i) {
        append_row(source_words.ids(corpus.sources[i]), steps, examples.sources,
                   examples.source_lengths);
        append_row(target_words.ids(corpus.targets[i]), steps, examples.targets,
                   examples.target_lengths);
    }
    return examples;
}

void group_by_length(std::span<std::uint32_t> order, const Examples& examples, std::size_t batch,
                     std::size_t window, std::uint64_t seed, std::uint64_t epoch) {
    const RandomStream stream(seed, kGroupStream + static_cast<std::uint32_t>(epoch));
    const auto lengths = [&](std::uint32_t i) {
        return std::pair(examples.target_lengths[i], examples.source_lengths[i]);
    };
    std::uint64_t drawn = 0;
    for (std::size_t first = 0; first < order.size(); first += window) {
        const auto part = order.subspan(first, std::min(window, order.size() - first));
        const std::vector<std::uint32_t> sorted = sorted_by(part, lengths);
        // The batch that is not full stays last: batches of the next window are not to be cut.
        std::vector<std::size_t> batches(part.size() / batch);
        std::iota(batches.begin(), batches.end(), std::size_t{0});
        for (std::size_t i = batches.size(); i > 1; --i)
            std::swap(batches[i - 1], batches[stream.below(drawn++, i)]);
        auto to = part.begin();
        for (const std::size_t number : batches)
            to = std::copy_n(sorted.begin() + static_cast<std::ptrdiff_t>(number * batch), batch,
                             to);
        std::copy(sorted.end() - (part.end() - to), sorted.end(), to);
    }
}

BatchSteps needed_steps(const Examples& examples, std::span<const std::uint32_t> chosen) {
    std::int32_t source = examples.whole_sources ? static_cast<std::int32_t>(examples.steps) : 1;
    std::int32_t target = 1;
    for (const std::uint32_t example : chosen) {
        source = std::max(source, examples.source_lengths[example]);
        target = std::max(target, examples.target_lengths[example]);
    }
    return {static_cast<std::size_t>(source), static_cast<std::size_t>(target)};
}

std::int64_t fill_batch(const Examples& examples, std::span<const std::uint32_t> chosen,
                        const BatchInputs& inputs) {
    const auto [sources, targets] = inputs.steps;
    std::int64_t target_tokens = 0;
    for (std::size_t row = 0; row < chosen.size(); ++row) {
        const std::int32_t* source = examples.sources.data() + chosen[row] * examples.steps;
        const std::int32_t* target = examples.targets.data() + chosen[row] * examples.steps;
        std::copy_n(source, sources, inputs.src + row * sources);
        std::copy_n(target, targets, inputs.labels + row * targets);
        inputs.tgt[row * targets] = kBegin;
        std::copy_n(target, targets - 1, inputs.tgt + row * targets + 1);
        const std::int32_t source_length = examples.source_lengths[chosen[row]];
        const std::int32_t target_length = examples.target_lengths[chosen[row]];
        if (inputs.src_lens) inputs.src_lens[row] = source_length;
        if (inputs.tgt_lens) inputs.tgt_lens[row] = target_length;
        target_tokens += target_length;
    }
    return target_tokens;
}

}  // namespace fovea::runtime
