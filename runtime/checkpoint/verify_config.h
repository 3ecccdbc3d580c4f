// What `config.json` beside the weights says, compared with what a program was built with.
#pragma once

#include <string>

#include "../description.h"

namespace fovea::runtime {

/// The part of the runtime that models with settings name.
struct VerifiedConfigs {
    /// UserError where the folder `weights` has a `config.json` that, as `CheckpointConfig` reads
    /// it, has another value of a setting than the model was built with, such as a number of heads,
    /// which no shape of weights shows; also where it says nothing, and the model was not built
    /// with the default; and where the model is not right for one of its fields.
    void (*verify)(const Model& model, const std::string& weights);
};

}  // namespace fovea::runtime
