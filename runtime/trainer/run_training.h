// A training from the command line, whatever its data.
#pragma once

#include <functional>

#include "train_options.h"

namespace fovea::runtime {

/// All that a training is made of. What it refers to outlives it.
struct TrainingPlan {
    const Model& model;
    const TrainingData& data;
    const TrainingSettings& settings;
    const TrainPaths& paths;
    TrainingEnd end;
    bool resumes = false;  // goes on from the checkpoint, where there is one
    SavedParameters saved = {};
};

/// Trains `parameters`, which `initialize` fills where no checkpoint does or it holds no frozen
/// ones, with checkpoints, a log and progress on the way, and prints a summary. Returns the exit
/// status: 0, or 128 and the signal that ended it.
int run_training(const TrainingPlan& plan, Parameters& parameters,
                 const std::function<void()>& initialize);

}  // namespace fovea::runtime
