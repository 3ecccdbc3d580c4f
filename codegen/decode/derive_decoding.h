// From a model of text that reads all tokens at once, programs that read one token after the other.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// What decoding calls, by the names that models have: inputs `ids` i32 [batch, len], and an output
/// `logits` [batch, len, ..]. The keys and values of every attention along `len` lie in caches
/// `MODULE.keys` and `MODULE.values`, [batch, (heads,) steps, width]: outputs of the first program,
/// states of the second, which start as these. What several attentions read is cached once, by the
/// first one's name. Where a window alone hides keys, and no score tells them apart by number,
/// caches have the window's positions, `steps_of_window_N`, and are written around. A mask of keys
/// lies in `MODULE.allowed`, and what a loop along positions hands from step to step in
/// `MODULE.state`. A model with a source has inputs `src` and, in place of `ids`, `tgt`. What
/// depends on `src`, has no positions of `tgt` and is read by what has some, is likewise an output
/// and a state: `MODULE.keys` and `MODULE.values` of attention, of other ops `MODULE.kept` (truths
/// as i32). Other inputs are those of both programs.
struct Decoding {
    /// Reads a prompt, ids [batch, len]; `logits` [batch, 1, ..] are those of its last token. What
    /// no cache needs is computed for that token alone.
    Graph prefill;
    /// Reads one token of each sequence, ids [batch, 1], where `position` tokens stand before, an
    /// i32 [batch] below `steps`; [1], the same for all, where why_not_row_positions says why. Its
    /// keys and values go into the caches.
    Graph step;
};

/// Why no such programs can be derived, the op that is in the way with its line; none where they
/// can: every op keeps the positions of `len` apart, attention sees no later ones, and no call
/// changes what the next one reads. The model is that of evaluation (select_mode). Positions from a
/// length on, where attention has lengths [batch], are padding, whose logits mean nothing.
std::optional<std::string> why_not_decodable(const Graph& model);

/// The programs; UserError with the reason where there are none. Keys and values of float32 along
/// `len` lie in caches as `caches`: where products round them to halves anyway, caches of these
/// hold the same. Those of a source stay as they are.
Decoding derive_decoding(const Graph& model, DType caches = DType::f32);

}  // namespace fovea
