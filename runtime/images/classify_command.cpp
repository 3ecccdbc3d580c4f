#include "classify_command.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "../checkpoint/read_checkpoint.h"
#include "../device/choose_device.h"
#include "../error.h"
#include "../files/printable.h"
#include "../load_parameters.h"
#include "../memory/shape.h"
#include "../options.h"
#include "../runner/bind_dims.h"
#include "../runner/threads_option.h"
#include "../safetensors.h"
#include "../weights/weights_in_file.h"
#include "class_names.h"
#include "image_classifier.h"

namespace fovea::runtime {

namespace {

Options classify_options(const std::string& program) {
    Options options(program + " classify",
                    "Prints the likeliest classes of each image, with their probabilities. Images "
                    "are PPM or PGM files, or pixels [images, channels, height, width] of a file "
                    "that ends in .safetensors, which are taken as they lie.",
                    "IMAGE…");
    options
        .add({.name = "weights",
              .kind = OptionKind::text,
              .value_name = "FILE|DIR",
              .help = "safetensors, or the folder of a checkpoint, whose preprocessor_config.json "
                      "and config.json are then read, too",
              .required = true})
        .add({.name = "top-k",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "how many classes are printed, where there are as many",
              .default_text = "5"})
        .add({.name = "batch",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "how many images are read at once",
              .default_text = "16",
              .most = 1 << 20})
        .add(device::device_option())
        .add(threads_option())
        .example("images", "--weights DIR cat.ppm dog.ppm")
        .example("the likeliest class of each", "--weights DIR --top-k 1 pixels.safetensors");
    return options;
}

/// Takes images as they come, and prints the classes of some at a time.
class ImagesToClassify {
  public:
    ImagesToClassify(const Options& options, ImageClassifier& classifier)
        : weights_(options.text("weights")),
          settings_(image_settings_beside(weights_)),
          names_(class_names_beside(weights_)),
          classifier_(classifier),
          most_(std::size_t(options.integer("batch"))),
          top_(std::size_t(std::min(options.integer("top-k"), classifier.classes()))) {}

    void take(const std::string& path) {
        if (path.ends_with(".safetensors")) return take_pixels(path);
        append_pixels(pixels_, read_pixmap(path), settings_, classifier_.shape(), path);
        add(path);
    }
    void finish() {
        if (titles_.empty()) return;
        const std::span<const float> logits = classifier_.classify(pixels_);
        const auto classes = static_cast<std::size_t>(classifier_.classes());
        for (std::size_t i = 0; i < titles_.size(); ++i)
            print(titles_[i], logits.subspan(i * classes, classes));
        if (std::fflush(stdout) != 0) throw UserError("cannot write to standard output");
        titles_.clear();
        pixels_.clear();
    }

  private:
    void add(std::string title) {
        titles_.push_back(std::move(title));
        if (titles_.size() == most_) finish();
    }

    void take_pixels(const std::string& path) {
        const SafetensorsFile file = read_safetensors(path);
        const TensorView* tensor = file.find("pixels");
        if (!tensor) throw UserError("'{}' has no tensor pixels", {path});
        const auto [channels, height, width] = classifier_.shape();
        if (tensor->shape.size() != 4 || !std::equal(tensor->shape.begin() + 1, tensor->shape.end(),
                                                     classifier_.shape().begin()))
            throw UserError("pixels in '{}' should be [images, {}, {}, {}], but are {}",
                            {path, channels, height, width, shape_text(tensor->shape)});
        std::vector<float> all(std::size_t(tensor->shape[0]) * classifier_.size());
        copy_floats(file, *tensor, tensor->shape, all);
        for (std::int64_t i = 0; i < tensor->shape[0]; ++i) {
            const auto first = all.begin() + i * std::ptrdiff_t(classifier_.size());
            pixels_.insert(pixels_.end(), first, first + std::ptrdiff_t(classifier_.size()));
            add(format("{}[{}]", {path, i}));
        }
    }

    void print(const std::string& title, std::span<const float> logits) const {
        if (!std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }))
            throw UserError(
                "the logits of '{}' are not finite: the weights or the pixels are not right",
                {title});
        const double most = *std::ranges::max_element(logits);
        double sum = 0;
        for (const float logit : logits) sum += std::exp(logit - most);
        std::vector<std::size_t> order(logits.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
        });
        std::printf("%s\n", printable(title).c_str());
        for (const std::size_t i : std::span(order).first(top_))
            std::printf("  %.6f  %s\n", std::exp(logits[i] - most) / sum,
                        name_of(std::int64_t(i)).c_str());
    }
    /// The class's number where it has no name.
    std::string name_of(std::int64_t label) const {
        const auto found = names_.find(label);
        return found == names_.end() ? format("{}", {label}) : printable(found->second);
    }

    std::string weights_;
    ImageSettings settings_;
    std::map<std::int64_t, std::string> names_;
    ImageClassifier& classifier_;
    std::size_t most_, top_;
    std::vector<std::string> titles_;
    std::vector<float> pixels_;  // [titles, channels, height, width]
};

}  // namespace

int classify_command(const std::string& program, const Model& model,
                     std::span<const char* const> arguments) {
    Options options = classify_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    if (options.positional().empty())
        throw UserError("there is no image to classify: give PPM files, or one of pixels");
    use_threads(options);
    SafetensorsFile weights = read_checkpoint(model, options.text("weights"));
    fit_names(weights, names_of_parameters(model));
    const Model& chosen = device::choose_device(model, options.text("device"));
    Parameters parameters(chosen, dims_of_parameters(chosen, weights));
    WeightsInFile in_file(parameters, weights);
    in_file.load();
    ImageClassifier classifier(chosen, parameters);
    ImagesToClassify images(options, classifier);
    for (const std::string& path : options.positional()) images.take(path);
    images.finish();
    return 0;
}

}  // namespace fovea::runtime
