// A text read whole, and token by token.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.h"

namespace fovea::test {

/// Texts `ids` [texts, length] of words below 29, of which the sources `src` [texts, 6] are
/// padding from the lengths 6 and 4 on. Caches have room for the length.
constexpr std::int64_t kReadTexts = 2, kTextLength = 13;

/// The words of the texts from `first` on, [texts, count].
Array text_ids(std::int64_t first, std::int64_t count);

/// Logits of a model at each position, [texts, length, words], with parameters that the names
/// tell apart.
Array logits_of_whole(const Graph& graph, std::int64_t length);

/// How many words stand before in each text; none: a prompt is read.
using Positions = std::vector<std::int64_t>;
Positions all_at(std::int64_t position);

/// Whether each text of a step has a position of its own.
bool has_row_positions(const Graph& step);

/// Logits of a program of derive_decoding that reads `ids` at these positions. `caches` are those
/// that the program before has made, and become this one's.
using Caches = std::map<std::string, Array>;
Array run_at(const Graph& program, const Array& ids, const Positions& positions, Caches& caches);

/// Of each text its own caches: those of text i are of `each[i]`.
Caches caches_of_each(const std::vector<Caches>& each);

/// CHECKs logits [texts, 1, words] of the texts' positions.
void check_rows(const Array& row, const Array& whole, const Positions& positions);

/// CHECKs that a model can be decoded, and that prompts of these lengths, and each token behind
/// them, have the logits of the whole text; of different lengths, too, where the step takes such.
/// Returns the last caches, of texts of one length.
Caches check_token_by_token(const Graph& graph, const std::vector<std::int64_t>& prompts);

}  // namespace fovea::test
