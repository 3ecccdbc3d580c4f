#include "weight_tensors.h"

#include "../error.h"
#include "../files/weights_format.h"
#include "storage_name.h"
#include "stored_weights.h"

namespace fovea::runtime {

namespace {

constexpr const char* kStorageKey = "fovea_weights";

}  // namespace

WeightStorage storage_in(const SafetensorsFile& file) {
    const auto found = file.metadata().find(kStorageKey);
    if (found == file.metadata().end()) return {};
    return parse_weight_storage(found->second,
                                "'" + file.path() + "': " + kStorageKey + " in its __metadata__");
}

WeightStorage storage_of(const Model& model) {
    for (const TensorSpec& spec : model.parameters)
        if (spec.storage) return spec.storage;
    return {};
}

void verify_storage(const Model& model, const SafetensorsFile& file) {
    const WeightStorage own = storage_of(model), there = storage_in(file);
    if (own == there) return;
    if (!there)
        throw UserError(
            "'{}' has weights of floats, but this program of {} takes {}: make such weights of "
            "them by its command `quantize`",
            {file.path(), model.name, long_name(own)});
    throw UserError(
        "'{}' has weights of {}, but this program of {} takes {}: build it with `--set "
        "weights={}`, or give it the weights that these were made of",
        {file.path(), long_name(there), model.name, long_name(own), storage_text(there)});
}

WeightTensors tensors_to_write(Parameters& parameters) {
    WeightTensors all;
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const TensorSpec& spec = parameters.model().parameters[i];
        if (!spec.storage) {
            all.tensors.push_back(f32_tensor(spec.name, parameters.shape(i), parameters.values(i)));
            continue;
        }
        stored_weights(parameters.model()).write(parameters, i, all);
    }
    return all;
}

Metadata metadata_to_write(const Model& model) {
    Metadata metadata = weights_format();
    if (const WeightStorage storage = storage_of(model))
        metadata[kStorageKey] = storage_text(storage);
    return metadata;
}

}  // namespace fovea::runtime
