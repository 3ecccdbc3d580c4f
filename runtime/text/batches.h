// Sentence pairs as the numbers that a training step reads, and their batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "read_pairs.h"
#include "tokenizer.h"
#include "vocabulary.h"

namespace fovea::runtime {

/// Pairs as tokens; pairs with a side without words are left out.
struct Corpus {
    std::vector<std::vector<std::string>> sources, targets;
    std::size_t size() const { return sources.size(); }
};

Corpus tokenize(const std::vector<SentencePair>& pairs, const Tokenizer& source = {},
                const Tokenizer& target = {});

/// Pairs as numbers of one length: `<eos>` appended, then cut or padded to `steps`, as d2l does.
struct Examples {
    std::size_t count = 0, steps = 0;
    std::vector<std::int32_t> sources;         // [count, steps]
    std::vector<std::int32_t> source_lengths;  // [count], without padding
    std::vector<std::int32_t> targets;         // [count, steps]; the labels
    std::vector<std::int32_t> target_lengths;  // [count]
    bool whole_sources = false;  // a batch's sources keep all steps: a model reads their padding

    /// The sum of target_lengths.
    std::int64_t target_tokens() const;
    /// A number that changes with any id, length, or their order (64-bit FNV-1a).
    std::uint64_t fingerprint() const;
};

/// UserError where `steps` is above 1048576.
Examples number_examples(const Corpus& corpus, const Vocabulary& source_words,
                         const Vocabulary& target_words, std::size_t steps);

/// Sorts the examples of each `window` by falling length (target, then source), keeping the order
/// of equals, so that batches of `batch` neighbours have little padding; then shuffles the window's
/// whole batches by (seed, epoch).
void group_by_length(std::span<std::uint32_t> order, const Examples& examples, std::size_t batch,
                     std::size_t window, std::uint64_t seed, std::uint64_t epoch);

/// The steps of a batch that are not padding in every sequence, at least 1; all steps of sources
/// whose padding is read.
struct BatchSteps {
    std::size_t source = 1, target = 1;
};

/// The steps that the `chosen` examples need.
BatchSteps needed_steps(const Examples& examples, std::span<const std::uint32_t> chosen);

/// Where a training step reads its batch, cut to its steps; no lengths where it reads none.
struct BatchInputs {
    BatchSteps steps;
    std::int32_t* src = nullptr;  // [batch, steps.source]
    std::int32_t* src_lens = nullptr;  // [batch]
    std::int32_t* tgt = nullptr;  // [batch, steps.target]; `<bos>`, then the labels but the last
    std::int32_t* labels = nullptr;  // [batch, steps.target]
    std::int32_t* tgt_lens = nullptr;  // [batch]
};

/// Fills the inputs with the `chosen` examples, in their order. Returns the sum of their target
/// lengths.
std::int64_t fill_batch(const Examples& examples, std::span<const std::uint32_t> chosen,
                        const BatchInputs& inputs);

}  // namespace fovea::runtime
