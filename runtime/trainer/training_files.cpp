// Writing, and what is done where writing fails.
#include "training_files.h"

#include <algorithm>
#include <cstdio>

#include "../error.h"
#include "finite.h"

namespace fovea::runtime {

namespace {

void warn(const UserError& error) {
    std::fprintf(stderr, "warning: %s; the training goes on, and tries again after an epoch\n",
                 error.what());
}

}  // namespace

TrainingFiles::TrainingFiles(Training& training, const TrainPaths& paths)
    : training_(training),
      paths_(paths),
      weights_lock_(paths.weights),
      checkpoint_lock_(paths.checkpoint),
      has_checkpoint_(training.position.step > 0),
      checkpoint_step_(training.position.step) {}

void TrainingFiles::verify_finite() const {
    std::string name = first_not_finite(training_.parameters);
    if (name.empty()) name = first_not_finite(training_.optimizer);
    if (name.empty()) return;
    throw Divergence("after step " + std::to_string(training_.position.step) +
                     " the training has diverged: '" + name +
                     "' is no longer finite; train again with a smaller --lr");
}

void TrainingFiles::write_weights() {
    if (!unwritten_) return;
    write_safetensors(paths_.weights, saved_tensors(unwritten_->parameters, training_.saved),
                      unwritten_->metadata);
    unwritten_.reset();
}

void TrainingFiles::keep_weights() {
    verify_finite();
    Parameters& parameters = training_.parameters;
    try {
        write_safetensors(paths_.weights, saved_tensors(parameters, training_.saved),
                          weights_metadata(training_));
        unwritten_.reset();
    } catch (const UserError& error) {
        unwritten_ = std::make_unique<Unwritten>(Unwritten{
            Parameters(parameters.model(), parameters.dims()), weights_metadata(training_)});
        const std::span<const float> flat = parameters.flat();
        std::copy(flat.begin(), flat.end(), unwritten_->parameters.flat().begin());
        warn(error);
    }
}

void TrainingFiles::save_last_weights() {
    verify_finite();
    write_safetensors(paths_.weights, saved_tensors(training_.parameters, training_.saved),
                      weights_metadata(training_));
}

void TrainingFiles::checkpoint() {
    verify_finite();
    // A checkpoint tells which epoch was the best: the weights of that epoch stand before it.
    write_weights();
    save_checkpoint(paths_.checkpoint, training_);
    is_behind_ = false;
    has_checkpoint_ = true;
    checkpoint_step_ = training_.position.step;
}

void TrainingFiles::try_checkpoint() {
    is_behind_ = true;
    try {
        checkpoint();
    } catch (const Divergence&) {
        throw;
    } catch (const UserError& error) {
        warn(error);
    }
}

void TrainingFiles::finish() {
    write_weights();
    if (is_behind_) checkpoint();
}

std::string TrainingFiles::kept() const {
    std::string text;
    if (has_checkpoint_)
        text = "; '" + paths_.checkpoint + "' is from step " + std::to_string(checkpoint_step_);
    if (training_.position.best_epoch > 0)
        text += "; '" + paths_.weights + "' holds the weights of epoch " +
                std::to_string(training_.position.best_epoch);
    return text;
}

}  // namespace fovea::runtime
