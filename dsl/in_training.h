// Marks settings of a model that matter in training alone.
#pragma once

namespace fovea {

/// `visit("dropout", dropout, in_training)`, in the function `fields` of a settings struct: weights
/// that were trained with another value of this setting are read all the same.
struct InTraining {};
inline constexpr InTraining in_training;

}  // namespace fovea
