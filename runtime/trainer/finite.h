// Whether numbers are numbers: a training that diverged leaves infinities and NaN.
#pragma once

#include <string>

#include "../error.h"
#include "../parameters.h"
#include "../training/optimizer.h"

namespace fovea::runtime {

/// A training whose loss, weights or optimizer are no longer finite.
class Divergence : public UserError {
  public:
    using UserError::UserError;
};

/// The first parameter, by the model's order, that holds an infinity or NaN; empty: none does.
std::string first_not_finite(Parameters& parameters);

/// The same of the parts of an optimizer's state.
std::string first_not_finite(Optimizer& optimizer);

/// UserError where a parameter is not finite; `path` is the file that it was read from.
void verify_finite(Parameters& parameters, const std::string& path);

}  // namespace fovea::runtime
