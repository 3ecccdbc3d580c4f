#include "quantize_command.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "../checkpoint/checkpoint_folder.h"
#include "../checkpoint/distinct_paths.h"
#include "../checkpoint/read_checkpoint.h"
#include "../error.h"
#include "../files/fit_names.h"
#include "../files/printable.h"
#include "../load_parameters.h"
#include "../memory/shape.h"
#include "../options.h"
#include "../runner/bind_dims.h"
#include "../runner/threads_option.h"
#include "../trainer/output_paths.h"
#include "../trainer/weights_header.h"
#include "../weights/storage_name.h"
#include "../weights/weight_tensors.h"
#include "text_tokens.h"

namespace fovea::runtime {

namespace {

Options quantize_options(const std::string& program) {
    Options options(program + " quantize",
                    "Writes weights of floats as whole numbers with scales, as this program takes "
                    "them, and prints how far each weight is off.",
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
        .add({.name = "to",
              .kind = OptionKind::text,
              .value_name = "int8|int4",
              .help = "what numbers, by default this program's; others are for another program"})
        .add({.name = "group",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "how many numbers share a scale, a multiple of 16 up to 4096 (default this "
                      "program's)"})
        .add(threads_option())
        .example("of a checkpoint", "--weights DIR -o small.safetensors")
        .example("of 4 bits, for a program of `--set weights=int4:64`",
                 "--to int4 --group 64 --weights DIR -o small.safetensors");
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

WeightStorage chosen_storage(const std::string& type, std::int64_t group) {
    WeightStorage storage;
    for (const int bits : {8, 4})
        if (type == type_name({bits, 1})) storage.bits = bits;
    if (!storage) throw UserError("--to takes int8 or int4, not '{}'", {type});
    if (group < 16 || group > 4096 || group % 16 != 0)
        throw UserError("--group takes a multiple of 16 up to 4096, not {}", {group});
    storage.group = static_cast<int>(group);
    return storage;
}

void quantize_weights(const Model& given, WeightStorage storage, const std::string& path,
                      const std::string& output) {
    Model model = given;
    for (TensorSpec& spec : model.parameters)
        if (spec.storage) spec.storage = storage;
    if (!storage_of(model))
        throw UserError(
            "{} has no weights that become whole numbers: those are matrices with rows of 16 or "
            "more that products alone read",
            {model.name});
    verify_writable(output);
    SafetensorsFile weights = read_checkpoint(model, path);
    verify_distinct({{"--output", output}}, {{"--weights", path}});
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
    write_safetensors(output, tensors_to_write(parameters).tensors,
                      metadata_of_quantized(model, weights, path));
    quantizer.print_sum();
}

int quantize_command(const std::string& program, const Model& model,
                     std::span<const char* const> arguments) {
    const WeightStorage own = storage_of(model);
    Options options = quantize_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    const WeightStorage storage =
        chosen_storage(options.has("to") ? options.text("to") : type_name(own),
                       options.has("group") ? options.integer("group") : own.group);
    quantize_weights(model, storage, options.text("weights"), options.text("output"));
    if (storage != own)
        std::printf("for a program that is built with `--set weights=%s`, as this one is not\n",
                    storage_text(storage).c_str());
    return 0;
}

}  // namespace fovea::runtime
