#include "image_classifier.h"

#include <algorithm>

#include "../error.h"

namespace fovea::runtime {

namespace {

constexpr const char *kPixels = "pixels", *kLogits = "logits";

bool is_batch_of(const TensorSpec& spec, const char* name, std::size_t rank) {
    return spec.name == name && spec.dtype == DType::f32 && spec.shape.size() == rank &&
           spec.shape[0].as_dim() >= 0 &&
           std::all_of(spec.shape.begin() + 1, spec.shape.end(),
                       [](const Extent& size) { return size.is_constant(); });
}

struct ImageProgram {
    const TensorSpec *pixels = nullptr, *logits = nullptr;
};

/// Null where the program classifies no images.
ImageProgram parts_of_images(const Program& program) {
    ImageProgram parts;
    for (const TensorSpec& input : program.inputs) {
        if (is_batch_of(input, kPixels, 4)) parts.pixels = &input;
        else if (input.dtype != DType::i32 || input.shape.size() != 1) return {};
    }
    for (const TensorSpec& output : program.outputs)
        if (is_batch_of(output, kLogits, 2)) parts.logits = &output;
    return parts.pixels && parts.logits &&
                   parts.pixels->shape[0].as_dim() == parts.logits->shape[0].as_dim()
               ? parts
               : ImageProgram{};
}

}  // namespace

bool ImageClassifier::fits(const Model& model) {
    return std::ranges::any_of(model.programs, [](const Program& program) {
        return program.name == "forward" && parts_of_images(program).pixels;
    });
}

ImageClassifier::ImageClassifier(const Model& model, Parameters& parameters)
    : instance_(model, "forward", parameters) {
    const ImageProgram parts = parts_of_images(instance_.program());
    if (!parts.pixels)
        throw UserError(
            "{} does not classify images: a model with an input pixels [batch, channels, height, "
            "width] and an output logits [batch, classes], both f32, does",
            {model.name});
    batch_ = model.dims[static_cast<std::size_t>(parts.pixels->shape[0].as_dim())];
    for (std::size_t axis = 0; axis < 3; ++axis)
        shape_[axis] = parts.pixels->shape[axis + 1].value({});
    classes_ = parts.logits->shape[1].value({});
}

std::span<const float> ImageClassifier::classify(std::span<const float> pixels) {
    const auto count = static_cast<std::int64_t>(pixels.size() / size());
    instance_.bind({{batch_, count}});
    std::ranges::copy(pixels, instance_.input<float>(kPixels));
    for (const TensorSpec& input : instance_.program().inputs)
        if (input.dtype == DType::i32)
            std::fill_n(instance_.input<std::int32_t>(input.name), count, 0);
    instance_.run();
    return {instance_.output<float>(kLogits), std::size_t(count * classes_)};
}

}  // namespace fovea::runtime
