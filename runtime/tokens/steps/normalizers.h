// What a tokenizer does to a text before it looks for tokens in it.
#pragma once

#include "../field.h"
#include "pieces.h"

namespace fovea::runtime::tokens {

/// The normalizer that an object of a tokenizer.json describes. UserError for one that is unknown.
Normalizer read_normalizer(const Field& field);

/// Those of one type; they read the fields of the object, and are listed in normalizers.cpp.
Normalizer read_bert_normalizer(const Field& field);
Normalizer read_precompiled(const Field& field);

}  // namespace fovea::runtime::tokens
