// What `train` is told on the command line.
#pragma once

#include <cstdint>
#include <string>

#include "../../options.h"
#include "../../program.h"
#include "checkpoint.h"

namespace fovea::runtime {

struct TrainPaths {
    std::string data, weights, checkpoint;
    std::string log, pieces;  // empty for none
};

Options train_options(const std::string& program);

/// UserError where two of them are one file, or one can't be written.
TrainPaths train_paths(const Options& options);

/// UserError for options that do not go together. The width of the paper's schedule is that of the
/// model's setting `d_model` or `hidden`.
TrainingSettings training_settings(const Options& options, const Model& model);

}  // namespace fovea::runtime
