// What comes after texts, token by token, several of them at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "choose_token.h"
#include "prompts.h"
#include "token_decoder.h"

namespace fovea::runtime {

struct Continuing {
    Sampling sampling;
    std::int64_t most = 50;  // tokens of a text
    std::int64_t positions = 0;  // of a text, with its prompt, that are read; 0: any number
    std::int64_t rows = 1;   // texts that are read together, at most
    Tokens ends;             // a text ends with one of these
    std::int64_t beams = 1;  // hypotheses that are followed for each text; 1: none but the text
    double length_penalty = 1;  // of these (continue_beams.h)
    std::int64_t best = 1;  // texts of a prompt, at most as many as beams
};

/// A text to go on with, and what it answers to, where the model has a source.
struct Prompt {
    Tokens tokens, source;
};

/// How many tokens come after a prompt at most: the last one is not read.
std::int64_t most_after(const Prompt& prompt, const Continuing& options);

/// Called with each token of text `text` as it comes, with beams when the text has ended, and
/// whether it is the text's last one. Those of a text come in order; each is the same whichever
/// texts are read beside it. Each prompt has `best` texts.
using TakeToken = std::function<void(std::size_t text, std::int32_t token, bool is_last)>;

/// Goes on with all prompts: a row whose text has ended takes the next one.
void continue_texts(TokenDecoder& decoder, std::span<const Prompt> prompts,
                    const Continuing& options, const TakeToken& take);

}  // namespace fovea::runtime
