// Finding parameters in a file, and naming what is missing, wrong or unused.
#include "load_parameters.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "error.h"
#include "files/printable.h"
#include "files/weights_format.h"
#include "memory/halves.h"
#include "weights/stored_weights.h"
#include "weights/weight_tensors.h"

namespace fovea::runtime {
namespace {

/// A tied parameter under two names must hold one value.
void verify_aliases(const Model& model, const TensorView& chosen, const std::string& parameter,
                    const SafetensorsFile& file) {
    for (const Alias& alias : model.aliases) {
        if (alias.parameter != parameter) continue;
        const TensorView* other = file.find(alias.name);
        if (!other || other == &chosen) continue;
        if (!std::equal(chosen.bytes.begin(), chosen.bytes.end(), other->bytes.begin(),
                        other->bytes.end())) {
            throw UserError("'{}' and '{}' in '{}' are one tensor in {}, but differ there",
                            {chosen.name, other->name, file.path(), model.name});
        }
    }
}

/// Whether parameters are read from a tensor of this name, or it is there for others.
bool is_own(const Parameters& parameters, const std::string& name) {
    const Model& model = parameters.model();
    const auto has = [&](const std::string& own) {
        return parameters.find(own) >= 0 ||
               std::any_of(model.aliases.begin(), model.aliases.end(),
                           [&](const Alias& alias) { return alias.name == own; });
    };
    constexpr std::string_view kScales = ".scales";
    return has(name) || is_never_read(name) ||
           (model.stored_weights && name.ends_with(kScales) &&
            has(name.substr(0, name.size() - kScales.size())));
}

}  // namespace

void verify_floats(const SafetensorsFile& file, const TensorView& tensor,
                   std::span<const std::int64_t> shape) {
    for (const DType type : {DType::f32, DType::bf16, DType::f16})
        if (tensor.dtype == safetensors_name(type))
            return verify_values(file, tensor, "parameter", type, shape);
    throw UserError(
        "parameter '{}' in '{}' has dtype {}, but weights are taken as F32, BF16 or F16: save "
        "it as one of these",
        {tensor.name, file.path(), tensor.dtype});
}

void copy_part(const TensorView& tensor, std::size_t first, std::span<float> values) {
    const bool is_whole = tensor.dtype == safetensors_name(DType::f32);
    const std::size_t size = is_whole ? sizeof(float) : sizeof(std::uint16_t);
    const std::byte* const from = tensor.bytes.data() + first * size;
    if (is_whole) {
        if (!values.empty()) std::memcpy(values.data(), from, values.size_bytes());
        return;
    }
    const bool is_bfloat16 = tensor.dtype == safetensors_name(DType::bf16);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t half = 0;
        std::memcpy(&half, from + i * size, size);
        values[i] = float_of_half(is_bfloat16 ? DType::bf16 : DType::f16, half);
    }
}

void copy_floats(const SafetensorsFile& file, const TensorView& tensor,
                 std::span<const std::int64_t> shape, std::span<float> values) {
    verify_floats(file, tensor, shape);
    copy_part(tensor, 0, values);
}

const TensorView* find_parameter(const Model& model, std::size_t i, const SafetensorsFile& file) {
    const std::string& name = model.parameters[i].name;
    if (const TensorView* tensor = file.find(name)) return tensor;
    for (const Alias& alias : model.aliases) {
        if (alias.parameter != name) continue;
        if (const TensorView* tensor = file.find(alias.name)) return tensor;
    }
    return nullptr;
}

bool is_never_read(std::string_view name) {
    return name.ends_with(".pos_table") || name.ends_with(".num_batches_tracked");
}

void warn_unused(const SafetensorsFile& file, const std::string& model, const IsUsed& is_used) {
    constexpr std::size_t kNamed = 3;
    std::string list;
    std::size_t count = 0;
    for (const TensorView& tensor : file.tensors()) {
        if (is_used(tensor.name)) continue;
        if (++count <= kNamed) list += (count > 1 ? ", '" : "'") + tensor.name + "'";
    }
    if (count == 0) return;
    if (count > kNamed) list += " and " + std::to_string(count - kNamed) + " more";
    std::fprintf(stderr, "warning: '%s' has tensors that %s does not use: %s\n",
                 file.path().c_str(), model.c_str(), printable(list).c_str());
}

namespace {

bool is_any(const TensorSpec&) { return true; }

/// Copies the wanted parameters, each from the tensor of its name or of another one that it has.
void copy_each(Parameters& parameters, const SafetensorsFile& file, const IsWanted& wanted,
               std::string_view ignored_prefix, const CopyParameter& copy) {
    verify_weights_format(file);
    const Model& model = parameters.model();
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        if (wanted(model.parameters[i]) && !find_parameter(model, i, file))
            missing.push_back(model.parameters[i].name);
    }
    if (!missing.empty()) {
        std::string text =
            "'" + file.path() + "' lacks parameter '" + missing.front() + "' of " + model.name;
        if (missing.size() > 1) {
            text += " and " + std::to_string(missing.size() - 1) + " more";
        }
        throw UserError(text);
    }
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        if (!wanted(model.parameters[i])) continue;
        const TensorView& tensor = *find_parameter(model, i, file);
        copy(i, tensor);
        verify_aliases(model, tensor, model.parameters[i].name, file);
    }
    parameters.mark_changed();
    warn_unused(file, model.name, [&](const std::string& name) {
        const bool is_ignored = !ignored_prefix.empty() && name.starts_with(ignored_prefix);
        return is_ignored || is_own(parameters, name);
    });
}

}  // namespace

void load_parameters(Parameters& parameters, const SafetensorsFile& file,
                     std::string_view ignored_prefix) {
    load_some_parameters(parameters, file, is_any, ignored_prefix);
}

void load_some_parameters(Parameters& parameters, const SafetensorsFile& file,
                          const IsWanted& wanted, std::string_view ignored_prefix) {
    load_some_parameters(parameters, file, wanted, ignored_prefix,
                         [&](std::size_t i, const TensorView& tensor) {
                             copy_floats(file, tensor, parameters.shape(i), parameters.values(i));
                         });
}

void load_some_parameters(Parameters& parameters, const SafetensorsFile& file,
                          const IsWanted& wanted, std::string_view ignored_prefix,
                          const CopyParameter& take) {
    const Model& model = parameters.model();
    verify_storage(model, file);
    const auto copy = [&](std::size_t i, const TensorView& tensor) {
        if (model.parameters[i].storage) stored_weights(model).copy(parameters, i, file, tensor);
        else take(i, tensor);
    };
    copy_each(parameters, file, wanted, ignored_prefix, copy);
}

void load_parameters(Parameters& parameters, const SafetensorsFile& file,
                     std::string_view ignored_prefix, const CopyParameter& copy) {
    copy_each(parameters, file, is_any, ignored_prefix, copy);
}

std::vector<ParameterNames> names_of_parameters(const Model& model) {
    std::vector<ParameterNames> all;
    for (const TensorSpec& spec : model.parameters) {
        all.push_back({spec.name});
        for (const Alias& alias : model.aliases)
            if (alias.parameter == spec.name) all.back().push_back(alias.name);
    }
    return all;
}

std::vector<TensorView> parameter_tensors(Parameters& parameters) {
    std::vector<TensorView> tensors;
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        tensors.push_back(f32_tensor(parameters.model().parameters[i].name, parameters.shape(i),
                                     parameters.values(i)));
    }
    return tensors;
}

}  // namespace fovea::runtime
