// What comes after texts by beam search.
#pragma once

#include <cstdint>
#include <span>

#include "continue_texts.h"

namespace fovea::runtime {

/// The `options.best` likeliest texts that `options.beams` hypotheses find for each prompt, the
/// best first, as `num_beams` and `num_return_sequences` of transformers' `generate` have it. A
/// step keeps the likeliest that go on, and of those that end, which are among the likeliest, the
/// best by log P / length^length_penalty, the end counted. It is over when as many have ended and
/// the likeliest that goes on is no better than the worst of them, at its length. `decoder` has
/// been started with as many rows for each of `at_once` texts; a text that has ended leaves them to
/// the next one. UserError where the model has fewer tokens than texts are asked for.
void continue_beams(TokenDecoder& decoder, std::span<const Prompt> prompts,
                    const Continuing& options, const TakeToken& take, std::int64_t at_once);

}  // namespace fovea::runtime
