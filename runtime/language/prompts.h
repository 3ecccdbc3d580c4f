// Texts that commands of language models are given, as texts or as numbers of tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../options.h"
#include "../safetensors.h"
#include "text_tokens.h"

namespace fovea::runtime {

using Tokens = std::vector<std::int32_t>;

/// `--weights`, `--tokenizer` and `--ids`.
void add_prompt_options(Options& options);

/// Those of `--tokenizer`, else of the tokenizer beside the weights, else those that the weights,
/// or the file of `--adapter` where a command takes one, were trained on; none where `--ids`
/// needs none. UserError where there is none and texts are to be read.
std::optional<TextTokens> text_tokens_of(const Options& options, const SafetensorsFile& weights,
                                         bool takes_adapter = false);

/// What `--ids` gives, each a prompt. UserError where texts stand beside it.
std::vector<Tokens> prompts_as_tokens(const Options& options);

/// The texts of the command line, else all that stands on standard input.
std::vector<std::string> prompts_as_texts(const Options& options);

}  // namespace fovea::runtime
