#include "image_settings.h"

#include <cmath>
#include <optional>

#include "../checkpoint/checkpoint_folder.h"
#include "../error.h"
#include "../files/json.h"

namespace fovea::runtime {

namespace {

constexpr const char* kSettingsFile = "preprocessor_config.json";

/// The fields of the file; absent ones and null are as if not written.
class ImageFields {
  public:
    ImageFields(const Json& json, const std::string& folder)
        : json_(json), path_(folder + "/" + kSettingsFile) {}

    const Json* find(const char* name) const {
        const Json* field = json_.find(name);
        return field && !field->is_null() ? field : nullptr;
    }
    bool flag(const char* name, bool otherwise) const {
        const Json* field = find(name);
        if (!field) return otherwise;
        if (!field->is_boolean()) fail(name, "should be true or false", *field);
        return field->boolean();
    }
    double number(const char* name, double otherwise) const {
        const Json* field = find(name);
        if (!field) return otherwise;
        if (!field->is_number()) fail(name, "should be a number", *field);
        return field->number();
    }
    /// One for each channel, or one for all.
    std::vector<double> numbers(const char* name, double otherwise) const {
        const Json* field = find(name);
        if (!field) return {otherwise};
        if (field->is_number()) return {field->number()};
        std::vector<double> numbers;
        if (field->is_array())
            for (const Json& number : field->array()) {
                if (!number.is_number()) fail(name, "should be a list of numbers", *field);
                numbers.push_back(number.number());
            }
        if (numbers.empty()) fail(name, "should be a list of numbers", *field);
        return numbers;
    }
    [[noreturn]] void fail(const char* name, const char* should, const Json& is) const {
        throw UserError("'{}': {} {}, not {}", {path_, name, should, is.text()});
    }

  private:
    const Json& json_;
    std::string path_;
};

void take_size(ImageSettings& settings, const ImageFields& fields) {
    const Json* size = fields.find("size");
    if (!size) return;
    const auto side = [&](const Json* value) {
        if (!value || !value->is_integer() || value->integer() < 1)
            fields.fail("size", "should be a number from 1, or have height and width", *size);
        return value->integer();
    };
    settings.height = side(size->is_object() ? size->find("height") : size);
    settings.width = side(size->is_object() ? size->find("width") : size);
}

Resampling resampling_of(const ImageFields& fields) {
    const Json* resample = fields.find("resample");
    if (!resample || *resample == Json(2)) return Resampling::bilinear;
    if (*resample == Json(3)) return Resampling::bicubic;
    fields.fail("resample", "should be 2 (bilinear) or 3 (bicubic)", *resample);
}

double of_channel(const std::vector<double>& values, std::size_t channel) {
    return values.size() == 1 ? values[0] : values[channel];
}

void check_channels(const std::vector<double>& values, std::int64_t channels, const char* name) {
    if (values.size() != 1 && values.size() != std::size_t(channels))
        throw UserError("{} of {} has {} numbers, but the model has {} channels",
                        {name, kSettingsFile, values.size(), channels});
}

Pixmap resized(const Pixmap& image, const ImageSettings& settings, std::int64_t height,
               std::int64_t width, const std::string& path) {
    if (!settings.do_resize)
        throw UserError(
            "'{}' has {} x {} pixels, but the model reads {} x {}, and {} says do_resize = false: "
            "resize it first",
            {path, image.width, image.height, width, height, kSettingsFile});
    return resize_image(image, width, height, settings.resampling);
}

}  // namespace

ImageSettings image_settings_beside(const std::string& weights) {
    const std::optional<Json> json = object_beside(weights, kSettingsFile);
    if (!json) return {};
    const ImageFields fields(*json, weights);
    ImageSettings settings;
    if (fields.flag("do_center_crop", false))
        fields.fail("do_center_crop", "should be false: images are not cropped here", Json(true));
    settings.do_resize = fields.flag("do_resize", true);
    if (settings.do_resize) {
        take_size(settings, fields);
        settings.resampling = resampling_of(fields);
    }
    settings.rescale_factor = fields.number("rescale_factor", settings.rescale_factor);
    if (!fields.flag("do_rescale", true)) settings.rescale_factor = 1;
    settings.image_mean = fields.numbers("image_mean", 0.5);
    settings.image_std = fields.numbers("image_std", 0.5);
    for (const double deviation : settings.image_std)
        if (!(std::abs(deviation) > 0))
            fields.fail("image_std", "should not be 0: values are divided by it",
                        *fields.find("image_std"));
    if (!fields.flag("do_normalize", true)) settings.image_mean = {0}, settings.image_std = {1};
    return settings;
}

void append_pixels(std::vector<float>& pixels, const Pixmap& image, const ImageSettings& settings,
                   const ImageShape& shape, const std::string& path) {
    const auto [channels, height, width] = shape;
    if (image.channels != channels)
        throw UserError("'{}' has {} channels, but the model reads {}",
                        {path, image.channels, channels});
    if ((settings.width && settings.width != width) ||
        (settings.height && settings.height != height))
        throw UserError("{} has size {} x {}, but the model reads {} x {}",
                        {kSettingsFile, settings.width, settings.height, width, height});
    check_channels(settings.image_mean, channels, "image_mean");
    check_channels(settings.image_std, channels, "image_std");
    if (image.width != width || image.height != height)
        return append_pixels(pixels, resized(image, settings, height, width, path), settings, shape,
                             path);
    for (std::size_t c = 0; c < std::size_t(channels); ++c) {
        const double mean = of_channel(settings.image_mean, c),
                     deviation = of_channel(settings.image_std, c);
        for (std::size_t i = c; i < image.values.size(); i += std::size_t(channels))
            pixels.push_back(float((image.values[i] * settings.rescale_factor - mean) / deviation));
    }
}

}  // namespace fovea::runtime
