// A model written by hand as the generator writes them: y = scale[in] * x[batch, in], with or
// without a loss, for the tests of sessions and of the runner.
#pragma once

#include "runtime/program.h"

namespace fovea::test {

/// `loss`: with an output loss [batch] = sum over y; its gradient needs no cotangent.
/// Parameters: scale [in], table [vocab, 4] (not used), bias [8]. Inputs: x [batch, in],
/// ids [batch] (each below 5). Programs: forward, gradient.
const runtime::Model& small_model();
const runtime::Model& small_model_with_loss();

/// How often `prepare` of any program was called.
int prepare_count();

}  // namespace fovea::test
