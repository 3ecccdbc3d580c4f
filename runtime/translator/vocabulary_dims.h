// The sizes that vocabularies give a model's dims.
#pragma once

#include "../parameters.h"
#include "../text/vocabulary.h"

namespace fovea::runtime {

/// `src_vocab` and `tgt_vocab`, as dims of `model`. Where the model was generated for a fixed size
/// and a vocabulary has another, UserError with both; `origin` says where the words come from.
DimValues vocabulary_dims(const Model& model, const Vocabulary& source, const Vocabulary& target,
                          const std::string& origin);

}  // namespace fovea::runtime
