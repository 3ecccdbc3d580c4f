// Classes of images, by a model that reads an image as a whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../session.h"
#include "image_settings.h"

namespace fovea::runtime {

/// The program `forward` of a model with an input `pixels` f32 [batch, channels, height, width],
/// of a fixed size but for the batch, and an output `logits` f32 [batch, classes]; other inputs are
/// i32 [batch], labels that logits do not read.
class ImageClassifier {
  public:
    /// UserError where the model is none such.
    ImageClassifier(const Model& model, Parameters& parameters);
    /// Whether a model can be used so.
    static bool fits(const Model& model);

    const ImageShape& shape() const { return shape_; }
    std::int64_t classes() const { return classes_; }
    /// How many floats an image has.
    std::size_t size() const { return std::size_t(shape_[0] * shape_[1] * shape_[2]); }

    /// The logits of images, [images, classes], of `pixels` [images, channels, height, width].
    /// Those of an image do not depend on the others.
    std::span<const float> classify(std::span<const float> pixels);

  private:
    Instance instance_;
    std::string batch_;  // the name of a dim
    ImageShape shape_{};
    std::int64_t classes_ = 0;
};

}  // namespace fovea::runtime
