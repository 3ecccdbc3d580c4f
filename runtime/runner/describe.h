// What a model is: its dims, parameters, and the inputs and outputs of its programs.
#pragma once

#include <string>

#include "../files/json.h"
#include "../memory/extent.h"
#include "../program.h"

namespace fovea::runtime {

/// The number of parameters, with symbolic vocabularies.
Extent parameter_count(const Model& model);
/// A text for people.
std::string describe(const Model& model);
/// The same as JSON: model, settings, dims, parameters, parameter_count, programs.
Json describe_json(const Model& model);

}  // namespace fovea::runtime
