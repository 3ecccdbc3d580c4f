#include "quantize_command.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "../checkpoint/checkpoint_folder.h"
#include "../checkpoint/read_checkpoint.h"
#include "../error.h"
#include "../files/fit_names.h"
#include "../files/printable.h"
#include "../load_parameters.h"
#include "../memory/shape.h"
#include "../options.h"
#include "../runner/bind_dims.h"
#include "../trainer/output_paths.h"
#include "../trainer/weights_header.h"
#include "../weights/storage_name.h"
#include "../weights/weight_tensors.h"
#include "text_tokens.h"

namespace fovea::runtime {

namespace {

Options quantize_options(const std::string& program) {
    Options options(program + " quantize",
                    "Writes weights of floats as the whole numbers with scales that this program "
                    "takes, and prints how far each weight is off.",
                    "");
    options
        .add({.name = "weights",
              .kind = OptionKind::text,
              .value_name = "FILE|DIR",
              .help = "safetensors with the parameters, or the folder of a checkpoint",
              .required = true})
        .add({.name = "output",
              .kind = OptionKind::text,
              .value_name = "FILE",
              .help = "the safetensors to write",
              .required = true,
              .short_name = 'o'})
        .example("of a checkpoint", "--weights DIR -o small.safetensors");
    return options;
}

/// How far numbers are off.
struct Errors {
    double largest = 0, squared = 0, values_squared = 0;

    void add(std::span<const float> right, std::span<const float> near) {
        for (std::size_t i = 0; i < right.size(); ++i) {
            const double error = static_cast<double>(near[i]) - static_cast<double>(right[i]);
            largest = std::max(largest, std::abs(error));
            squared += error * error;
            values_squared += static_cast<double>(right[i]) * static_cast<double>(right[i]);
        }
    }
    /// The root of the mean square, over that of the values.
    double relative() const { return values_squared > 0 ? std::sqrt(squared / values_squared) : 0; }
};

class Quantizer {
  public:
    explicit Quantizer(Parameters& parameters) : parameters_(parameters) {}

    void take(std::size_t i, const SafetensorsFile& file, const TensorView& tensor) {
        const TensorSpec& spec = parameters_.model().parameters[i];
        const std::vector<std::int64_t>& shape = parameters_.shape(i);
        std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
        copy_floats(file, tensor, shape, values);
        parameters_.set_values(i, values);
        const std::string name = printable(spec.name), text = shape_text(shape);
        floats_ += values.size();
        if (!spec.storage) {
            std::printf("%-48s %-16s float32\n", name.c_str(), text.c_str());
            bytes_ += values.size() * sizeof(float);
            return;
        }
        const std::vector<float> near = parameters_.floats(i);
        Errors own;
        own.add(values, near);
        all_.add(values, near);
        bytes_ += parameters_.words(i).size_bytes();
        std::printf("%-48s %-16s %s: largest error %.3g, root mean square %.3g of the values'\n",
                    name.c_str(), text.c_str(), type_name(spec.storage).c_str(), own.largest,
                    own.relative());
    }
    void print_sum() const {
        std::printf(
            "%zu values in %.1f MB, as float32 %.1f MB; largest error %.3g, root mean square %.3g "
            "of the values'\n",
            floats_, static_cast<double>(bytes_) / 1e6, static_cast<double>(floats_) * 4 / 1e6,
            all_.largest, all_.relative());
    }

  private:
    Parameters& parameters_;
    Errors all_;
    std::size_t floats_ = 0, bytes_ = 0;
};

/// What the weights say of their model and their tokens, and of their storage now.
Metadata metadata_of_quantized(const Model& model, const SafetensorsFile& weights,
                               const std::string& path) {
    Metadata metadata = metadata_to_write(model);
    if (const std::optional<std::string> tokenizer = tokenizer_beside(path))
        metadata.merge(TextTokens::of_tokenizer(*tokenizer).metadata());
    for (const auto& [key, value] : weights.metadata()) metadata.insert({key, value});
    return metadata;
}

}  // namespace

int quantize_command(const std::string& program, const Model& model,
                     std::span<const char* const> arguments) {
    Options options = quantize_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    const WeightStorage storage = storage_of(model);
    if (!storage)
        throw UserError(
            "this program of {} takes weights as floats: build one that takes whole numbers, with "
            "`--set weights=int8`",
            {model.name});
    verify_writable(options.text("output"));
    SafetensorsFile weights = read_checkpoint(model, options.text("weights"));
    verify_distinct({{"--weights", weights.path()}, {"--output", options.text("output")}});
    if (const WeightStorage there = storage_in(weights))
        throw UserError("'{}' has weights of {} already: give those that they were made of",
                        {weights.path(), long_name(there)});
    fit_names(weights, names_of_parameters(model));
    verify_trained(weights, model);
    Parameters parameters(model, dims_of_parameters(model, weights));
    Quantizer quantizer(parameters);
    load_parameters(parameters, weights, {}, [&](std::size_t i, const TensorView& tensor) {
        quantizer.take(i, weights, tensor);
    });
    write_safetensors(options.text("output"), tensors_to_write(parameters).tensors,
                      metadata_of_quantized(model, weights, options.text("weights")));
    quantizer.print_sum();
    return 0;
}

}  // namespace fovea::runtime
