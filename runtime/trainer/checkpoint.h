// Checkpoints: all that a training needs to go on as if it had never stopped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../parameters.h"
#include "../training/learning_rate.h"
#include "../training/optimizer.h"
#include "training_data.h"
#include "weights_header.h"

namespace fovea::runtime {

/// The options that decide a training's bits, beside those of its data. How long it goes on is not
/// among them: a finished training can be continued.
struct TrainingSettings {
    std::int64_t batch = 64;
    std::int64_t accumulate = 1;  // batches whose gradients are added for one step
    double clip = 1;
    double validation = 0;  // the share of examples that is held out
    LearningRate learning_rate;
    OptimizerSettings optimizer;
    std::uint64_t seed = 1;
};

/// Where a training stands. Sums are over the steps of the epoch that is under way.
struct TrainingPosition {
    std::uint64_t step = 0;           // steps done
    std::uint64_t epoch = 0;          // epochs done
    std::uint64_t step_in_epoch = 0;  // steps done of the next epoch
    double loss_sum = 0;              // of the cross entropies, in nats
    std::int64_t tokens = 0;          // that the loss was of
    std::uint64_t best_epoch = 0;     // after which the validation loss was least; 0: none yet
    double best_loss = 0;             // that loss
};

/// Which parameters the files of a training hold, and what they are called there.
struct SavedParameters {
    bool only_trained = false;  // no frozen ones: they are those that the training began with
    std::string prefix = {};    // before their names
};

/// A training under way.
struct Training {
    const TrainingData& data;
    const TrainingSettings& settings;
    Parameters& parameters;
    Optimizer& optimizer;
    SavedParameters saved = {};
    TrainingPosition position = {};
    std::string base = {};  // the fingerprint of parameters that are not saved, once it is known
};

/// The tensors of a file of weights.
std::vector<TensorView> saved_tensors(Parameters& parameters, const SavedParameters& saved);

/// Writes parameters, the optimizer's state (`optimizer.m.<parameter>`) and position, atomically.
/// The bytes depend on nothing else.
void save_checkpoint(const std::string& path, Training& training);

/// Restores the parameters that are saved, state and position. UserError where the checkpoint is of
/// another model, of other settings, or of other data: the sentence names what differs.
void load_checkpoint(const std::string& path, Training& training);

/// The `__metadata__` of the weights that this training writes.
Metadata weights_metadata(const Training& training);

}  // namespace fovea::runtime
