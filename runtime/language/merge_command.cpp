#include "merge_command.h"

#include <cstdio>

#include "../checkpoint/distinct_paths.h"
#include "../checkpoint/read_checkpoint.h"
#include "../instance.h"
#include "../runner/bind_dims.h"
#include "../runner/threads_option.h"
#include "../trainer/output_paths.h"
#include "../trainer/weights_header.h"
#include "adapter.h"
#include "adapter_config.h"

namespace fovea::runtime {

namespace {

Options merge_options(const std::string& program) {
    Options options(program + " merge", "Takes the pairs of an adapter into the weights.");
    const auto file = [](const char* name, const char* value, const char* help) {
        return OptionSpec{.name = name,
                          .kind = OptionKind::text,
                          .value_name = value,
                          .help = help,
                          .required = true};
    };
    options.add(file("weights", "FILE|DIR", "safetensors, or the folder of a checkpoint"))
        .add(file("adapter", "FILE|DIR", "what was trained beside them"))
        .add({.name = "output",
              .kind = OptionKind::text,
              .value_name = "FILE",
              .help = "safetensors to write, with the names of the weights",
              .required = true,
              .short_name = 'o'})
        .add(threads_option())
        .example("weights of the same size as before",
                 "--weights DIR --adapter adapter.safetensors --output model.safetensors");
    return options;
}

/// The program `merge` gives those of layers with pairs by their names.
std::vector<TensorView> merged_tensors(Instance& merge, Parameters& parameters) {
    std::vector<TensorView> tensors;
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const TensorSpec& spec = parameters.model().parameters[i];
        if (!spec.frozen) continue;
        const std::span<const float> values =
            merge.has_output(spec.name) ? merge.output_values(spec.name) : parameters.values(i);
        tensors.push_back(f32_tensor(spec.name, parameters.shape(i), values));
    }
    return tensors;
}

/// Of the weights, and what their tokens are where the adapter alone says so.
Metadata merged_metadata(const SafetensorsFile& weights, const std::string& adapter) {
    Metadata metadata = weights.metadata();
    if (TextTokens::of_weights(weights)) return metadata;
    if (const auto tokens = tokens_of_adapter(adapter))
        for (const auto& [name, value] : tokens->metadata()) metadata.insert_or_assign(name, value);
    return metadata;
}

}  // namespace

int merge_command(const std::string& program, const Model& model,
                  std::span<const char* const> arguments) {
    Options options = merge_options(program);
    if (options.parse(arguments)) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    use_threads(options);
    verify_writable(options.text("output"));
    SafetensorsFile weights = read_checkpoint(model, options.text("weights"));
    verify_distinct(
        {{"--output", options.text("output")}},
        {{"--weights", options.text("weights")}, {"--adapter", options.text("adapter")}});
    fit_names(weights, names_of_weights(model));
    verify_trained(weights, model);
    Parameters parameters(model, dims_of_parameters(model, weights));
    load_adapted(parameters, weights, options);
    Instance merge(model, "merge", parameters);
    merge.bind({});
    merge.run();
    write_safetensors(options.text("output"), merged_tensors(merge, parameters),
                      merged_metadata(weights, options.text("adapter")));
    return 0;
}

}  // namespace fovea::runtime
