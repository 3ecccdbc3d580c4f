// What trained weights say of the training that they are of.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "../program.h"
#include "../safetensors.h"

namespace fovea::runtime {

/// What the names of a checkpoint's tensors of optimizer state start with.
inline constexpr const char* kOptimizerPrefix = "optimizer.";

/// What a file is read for: to go on training, which takes all settings as they were, or to be run,
/// which takes none of those that matter in training alone.
enum class ReadFor { training, inference };

/// The format of weights, and the keys model, settings, step (training steps done) and seed.
Metadata weights_metadata(const Model& model, std::uint64_t step, std::uint64_t seed);

/// UserError where a file is of a newer format, or not of this model with these settings; one that
/// the file does not name has its default. Settings that are `open` may differ.
void verify_weights(const SafetensorsFile& file, const Model& model, ReadFor purpose,
                    std::span<const char* const> open = {});

/// The same of weights that are run, where the file says of which model they are; the type that
/// they lie in memory as may be another (dtype, weights), and there may be pairs (--lora).
void verify_trained(const SafetensorsFile& weights, const Model& model);

/// Takes `prefix` from the names of all tensors that begin with it.
void remove_prefix(SafetensorsFile& file, const std::string& prefix);

/// The value of a key. UserError where there is none, or it is no whole number.
std::uint64_t count_at(const SafetensorsFile& file, const std::string& key);

}  // namespace fovea::runtime
