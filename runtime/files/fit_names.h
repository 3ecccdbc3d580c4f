// Names of a checkpoint's tensors, made those of a model's parameters.
#pragma once

#include <string>
#include <vector>

#include "../safetensors.h"

namespace fovea::runtime {

/// The names that a file may have a parameter under: its own, and those it is tied to.
using ParameterNames = std::vector<std::string>;

/// A file of a model's base alone lacks the first part of all names (`h.0.…` for
/// `transformer.h.0.…`), and one of a larger model has a part more (`bert.encoder.…`). Where more
/// of the parameters, two at least, are there in one such way than in any other and as they are
/// called, the tensors get the names of the parameters: what is then missing is missing indeed.
void fit_names(SafetensorsFile& file, const std::vector<ParameterNames>& parameters);

}  // namespace fovea::runtime
