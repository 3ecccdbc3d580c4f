// Texts that commands of language models are given, as texts or as numbers of tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../options.h"
#include "../tokens/tokenizer.h"

namespace fovea::runtime {

using Tokens = std::vector<std::int32_t>;

/// `--weights`, `--adapter`, `--tokenizer` and `--ids`.
void add_prompt_options(Options& options);

/// The tokenizer of `--tokenizer`, else that beside the weights, else that which they were trained
/// with; none where `--ids` needs none.
/// UserError where there is none and texts are to be read.
std::optional<tokens::JsonTokenizer> tokenizer_of(const Options& options);

/// What `--ids` gives, each a prompt. UserError where texts stand beside it.
std::vector<Tokens> prompts_as_tokens(const Options& options);

/// The texts of the command line, else all that stands on standard input.
std::vector<std::string> prompts_as_texts(const Options& options);

}  // namespace fovea::runtime
