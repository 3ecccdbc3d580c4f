// Descriptions of models.
#include "describe.h"

#include <algorithm>

#include "../memory/shape.h"
#include "../weights/storage_name.h"

namespace fovea::runtime {
namespace {

std::string stored_type(const TensorSpec& spec) {
    return spec.storage ? storage_text(spec.storage) : std::string(name_of(spec.dtype));
}

std::string tensor_lines(const Model& model, std::span<const TensorSpec> specs) {
    std::size_t width = 0;
    for (const TensorSpec& spec : specs) width = std::max(width, spec.name.size());
    std::string text;
    for (const TensorSpec& spec : specs) {
        std::string line = "  " + spec.name;
        line.append(width + 4 - line.size(), ' ');
        text += line + stored_type(spec) + " " + shape_text(spec.shape, model.dims) + "\n";
    }
    return text;
}

Json tensors_json(const Model& model, std::span<const TensorSpec> specs) {
    Json::Array tensors;
    for (const TensorSpec& spec : specs) {
        Json::Array shape;
        for (const Extent& extent : spec.shape) {
            shape.push_back(extent.is_constant() ? Json(extent.value({}))
                                                 : Json(extent.text(model.dims)));
        }
        Json tensor;
        tensor.set("name", spec.name).set("dtype", stored_type(spec));
        tensor.set("shape", std::move(shape));
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

}  // namespace

Extent parameter_count(const Model& model) {
    Extent count;
    for (const TensorSpec& spec : model.parameters) {
        Extent elements = 1;
        for (const Extent& extent : spec.shape) elements = elements * extent;
        count = count + elements;
    }
    return count;
}

std::string describe(const Model& model) {
    std::string text = "model " + model.name + "\n";
    for (const Setting& setting : model.settings) {
        text += "  " + setting.name + "=" + setting.value + "\n";
    }
    if (!model.isa.empty()) text += "\ninstruction set " + model.isa + "\n";
    text += "\ndims";
    for (const std::string& dim : model.dims) text += " " + dim;
    text += "\n\nparameters: " + parameter_count(model).text(model.dims) + " values in " +
            std::to_string(model.parameters.size()) + " tensors\n";
    text += tensor_lines(model, model.parameters);
    for (const Program& program : model.programs) {
        text += "\nprogram " + program.name + ", " + std::to_string(program.kernels.size()) +
                " kernels\n inputs\n" + tensor_lines(model, program.inputs) + " outputs\n" +
                tensor_lines(model, program.outputs);
    }
    return text;
}

Json describe_json(const Model& model) {
    Json settings{Json::Object{}};
    for (const Setting& setting : model.settings) settings.set(setting.name, setting.value);
    Json::Array programs;
    for (const Program& program : model.programs) {
        Json json;
        json.set("name", program.name).set("inputs", tensors_json(model, program.inputs));
        json.set("outputs", tensors_json(model, program.outputs));
        json.set("kernels", Json::Array(program.kernels.begin(), program.kernels.end()));
        programs.push_back(std::move(json));
    }
    const Extent count = parameter_count(model);
    Json json;
    json.set("model", model.name).set("isa", model.isa).set("settings", std::move(settings));
    json.set("dims", Json::Array(model.dims.begin(), model.dims.end()));
    json.set("parameter_count",
             count.is_constant() ? Json(count.value({})) : Json(count.text(model.dims)));
    json.set("parameters", tensors_json(model, model.parameters));
    json.set("programs", std::move(programs));
    return json;
}

}  // namespace fovea::runtime
