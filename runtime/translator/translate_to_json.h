// A translation with its attention weights as JSON: what a page shows.
#pragma once

#include <string>

#include "../files/json.h"
#include "sentence_translator.h"

namespace fovea::runtime {

/// The greedy translation of a sentence: `text`, as `translate` prints it, and where the model has
/// attention the tokens `source`, `read` and `produced` (MapTokens) and `maps`: of each module its
/// `name`, `heads`, `queries` and `keys`, the axes `query_axis` and `key_axis` ("source" or
/// "target"), and `weights` [heads, queries, keys], rounded to 4 places. Of a sentence without
/// words the text is empty, and there are no maps.
Json translate_to_json(SentenceTranslator& translator, const std::string& sentence);

/// The same as text, for `model` and the weights file `weights`, which is read at the first call;
/// {"error": …} where something is wrong with them. It lives until the next call.
const char* translate_for_page(const Model& model, const char* weights, const char* sentence);

}  // namespace fovea::runtime
