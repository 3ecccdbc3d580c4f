// Built-in models that run what others run, too.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace fovea::test {

/// Whether tests of every change leave the model out of what takes long; FOVEA_WHOLE takes all. Of
/// decoders that share a file gemma2 stays, of encoders vit.
inline bool is_like_another(std::string_view model) {
    constexpr std::string_view kAlike[] = {"llama", "mistral", "qwen2", "qwen3", "gemma3",
                                           "phi3",  "olmo2",   "gpt2",  "bert"};
    return !std::getenv("FOVEA_WHOLE") && std::ranges::find(kAlike, model) != std::end(kAlike);
}

}  // namespace fovea::test
