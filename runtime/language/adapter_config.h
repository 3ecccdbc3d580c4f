// The configuration that PEFT wants beside the file of an adapter.
#pragma once

#include <string>

#include "../program.h"

namespace fovea::runtime {

/// The file of an adapter: `path`, or in a folder `adapter_model.safetensors`, as PEFT calls it.
std::string adapter_file(const std::string& path);

/// Writes `adapter_config.json` beside an adapter that is called as PEFT calls it, so that their
/// folder is one that PEFT loads; beside others nothing.
void write_adapter_config(const Model& model, const std::string& adapter);

/// UserError where `adapter_config.json` stands beside an adapter of PEFT's name, and is not of the
/// kind, rank and alpha that the model was built with, or has a field set that changes what is
/// computed, or that is not known here.
void verify_adapter_config(const Model& model, const std::string& adapter);

}  // namespace fovea::runtime
