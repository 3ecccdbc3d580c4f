// The built translator: train, translate, evaluate and bench around a generated model.
#pragma once

#include "../program.h"

namespace fovea::runtime {

/// The main function of a translator of `model`, whose programs are `training_step`, `evaluate`,
/// `prefill` and `decode_step`. Returns the exit status: 0 done, 2 the user's mistake (one sentence
/// on standard error), 3 ours, 128 and the signal's number when a signal ended a training early.
int translator_main(int argc, char** argv, const Model& model);

}  // namespace fovea::runtime
