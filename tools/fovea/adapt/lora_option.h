// The options that give a model pairs of small matrices (codegen/adapt/add_lora.h).
#pragma once

#include <optional>

#include "codegen/adapt/add_lora.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/model/load_model.h"

namespace fovea::tool {

/// Adds `--lora` and `--lora-alpha`.
void add_lora_options(po::options_description& options);

/// Gives `model` the pairs that the options ask for, if any, and the settings `lora_rank` and
/// `lora_alpha`. UserError for other numbers, and for a model that has no layer for them or no
/// program that trains on texts.
void take_lora(const Arguments& given, LoadedModel& model);

}  // namespace fovea::tool
