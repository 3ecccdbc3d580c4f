#include "weight_tensors.h"

#include "../error.h"
#include "../files/weights_format.h"
#include "storage_name.h"
#include "stored_weights.h"

namespace fovea::runtime {

namespace {

constexpr const char* kStorageKey = "fovea_weights";

/// UserError for a file that has numbers and their scales, and does not say so.
void refuse_numbers_unsaid(const SafetensorsFile& file) {
    for (const TensorView& tensor : file.tensors()) {
        if (tensor.dtype != "I8" && tensor.dtype != "U8") continue;
        const TensorView* const scales = file.find(tensor.name + ".scales");
        if (!scales) continue;
        throw UserError(
            "'{}' has '{}' of {} and '{}', but no {} in its __metadata__, which says what they "
            "are: add it, as int8:32 (the type and the size of groups), or make the file again of "
            "weights of floats, by `fovea quantize`",
            {file.path(), tensor.name, tensor.dtype, scales->name, kStorageKey});
    }
}

}  // namespace

WeightStorage storage_in(const SafetensorsFile& file) {
    const auto found = file.metadata().find(kStorageKey);
    if (found == file.metadata().end()) return refuse_numbers_unsaid(file), WeightStorage{};
    return parse_weight_storage(found->second,
                                "'" + file.path() + "': " + kStorageKey + " in its __metadata__");
}

WeightStorage storage_of(const Model& model) {
    for (const TensorSpec& spec : model.parameters)
        if (spec.storage) return spec.storage;
    return {};
}

std::string quantizing(const Model& model) {
    if (model.quantize) return "its command `quantize`";
    const WeightStorage own = storage_of(model);
    return format("`fovea quantize MODEL --to {} --group {}`", {type_name(own), own.group});
}

void verify_storage(const Model& model, const SafetensorsFile& file) {
    const WeightStorage own = storage_of(model), there = storage_in(file);
    if (own == there) return;
    if (!there)
        throw UserError(
            "'{}' has weights of floats, but this program of {} takes {}: make such weights of "
            "them by {}",
            {file.path(), model.name, long_name(own), quantizing(model)});
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
