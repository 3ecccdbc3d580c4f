// Names of classes, as checkpoints have them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fovea::runtime {

/// `id2label` of `config.json` in the folder of a checkpoint; empty where `weights` is no folder or
/// the file does not have it. UserError with the path where it does not map numbers to texts.
std::map<std::int64_t, std::string> class_names_beside(const std::string& weights);

}  // namespace fovea::runtime
