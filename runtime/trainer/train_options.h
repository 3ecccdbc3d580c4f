// What all commands `train` are told on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../checkpoint/distinct_paths.h"
#include "../options.h"
#include "../program.h"
#include "checkpoint.h"

namespace fovea::runtime {

struct TrainPaths {
    std::string weights, checkpoint;
    std::string log;  // empty for none
};

/// Defaults of options, as texts, that programs choose for themselves.
struct TrainDefaults {
    const char* batch = "64";
    const char* epochs = "30";
    const char* learning_rate = "0.005";
    const char* optimizer = "adam";
};

/// How long a training goes on.
struct TrainingEnd {
    std::int64_t epochs = 30;
    std::int64_t patience = 0;  // epochs that have not lowered the loss of what is held out; 0: any
    std::int64_t steps = 0;  // 0: any
};

/// `--weights` and `--checkpoint`.
void add_output_options(Options& options);
/// The options of every training, from `--batch` to `--threads`.
void add_training_options(Options& options, const TrainDefaults& defaults);

/// UserError where two of the files, the `read` ones among them, are one, or one can't be written.
TrainPaths train_paths(const Options& options, const std::vector<NamedPath>& read);

/// UserError for options that do not go together. The width of the paper's schedule is that of the
/// model's setting `d_model`, `hidden`, `hidden_size` or `n_embd`. A cosine ends after `steps`
/// where `--total-steps` is not given; 0: it must be.
TrainingSettings training_settings(const Options& options, const Model& model,
                                   std::int64_t steps = 0);

/// `--epochs` and `--patience`.
TrainingEnd training_end(const Options& options);

/// UserError where an option is given and does not fit: `what` it is for.
void refuse_unless(bool fits, const Options& options, const std::string& name,
                   const std::string& what);

}  // namespace fovea::runtime
