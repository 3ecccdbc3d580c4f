// What the folder of a checkpoint has beside its weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../files/json.h"

namespace fovea::runtime {

/// The object of a JSON file. UserError with the path where it is none.
Json read_json_object(const std::string& path);
/// `DIR/tokenizer.json`, where `weights` is a folder that has one.
std::optional<std::string> tokenizer_beside(const std::string& weights);

/// The object of `DIR/name`; none where `weights` is no folder, or has no such file. UserError with
/// the path where it is no JSON object.
std::optional<Json> object_beside(const std::string& weights, const char* name);

/// The tokens that end a text: `eos_token_id` of `generation_config.json`, else of `config.json`,
/// one or a list; none where `weights` is no folder or neither file says any. UserError where a
/// file is not right.
std::vector<std::int32_t> ends_beside(const std::string& weights);

/// The token that a text with a source begins with, `decoder_start_token_id` of the same files,
/// else `bos_token_id`; none where neither file says any. UserError where a file is not right.
std::optional<std::int32_t> start_beside(const std::string& weights);

}  // namespace fovea::runtime
