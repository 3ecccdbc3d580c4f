#include "tools/bundle/case_file.h"

#include <cstring>
#include <functional>
#include <span>

#include "runtime/check_inputs_of_shape.h"
#include "runtime/error.h"
#include "runtime/files/files.h"
#include "runtime/memory/shape.h"
#include "runtime/tables.h"

namespace fovea::bundle {

using runtime::Json;
using Array = Json::Array;
using Object = Json::Object;

namespace {

std::string text_of(const std::filesystem::path& path) {
    const std::vector<std::byte> bytes = runtime::read_file(path.string());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Json spec_json(const runtime::TensorSpec& spec, const std::vector<std::string>& dims) {
    Array shape;
    for (const runtime::Extent& extent : spec.shape) shape.push_back(extent.text(dims));
    return Array{spec.name, std::string(name_of(spec.dtype)), std::move(shape), int(spec.initial),
                 spec.fan_in};
}

runtime::TensorSpec read_spec(const Json& json, const std::vector<std::string>& dims) {
    runtime::TensorSpec spec;
    const Array& parts = json.array();
    spec.name = parts.at(0).string();
    spec.dtype = dtype_of(parts.at(1).string());
    for (const Json& extent : parts.at(2).array())
        spec.shape.push_back(runtime::parse_extent(extent.string(), dims));
    spec.initial = runtime::Initial(parts.at(3).integer());
    spec.fan_in = parts.at(4).integer();
    return spec;
}

std::vector<runtime::TensorSpec> read_specs(const Json& json,
                                            const std::vector<std::string>& dims) {
    std::vector<runtime::TensorSpec> specs;
    for (const Json& spec : json.array()) specs.push_back(read_spec(spec, dims));
    return specs;
}

/// The check of a program's inputs by `checks`, [[input, holds, limit], …].
std::function<void(const runtime::Call&)> read_checks(const Json& checks,
                                                      const runtime::Program& program,
                                                      const runtime::Model& model) {
    struct Check {
        std::size_t tensor;
        bool is_ids;
        runtime::TensorSpec spec;
        runtime::Extent limit;
    };
    std::vector<Check> all;
    for (const Json& check : checks.array())
        for (std::size_t i = 0; i < program.inputs.size(); ++i)
            if (program.inputs[i].name == check.array().at(0).string())
                all.push_back({model.parameters.size() + i, check.array().at(1).string() == "ids",
                               program.inputs[i],
                               runtime::parse_extent(check.array().at(2).string(), model.dims)});
    return [all, count = model.dims.size()](const runtime::Call& call) {
        const std::span<const std::int64_t> dims(call.dims, count);
        for (const Check& check : all) {
            const auto shape = runtime::shape_values(check.spec.shape, dims);
            const auto* values = static_cast<const std::int32_t*>(call.tensors[check.tensor]);
            auto* verify =
                check.is_ids ? runtime::check_ids_of_shape : runtime::check_lengths_of_shape;
            verify(check.spec.name.c_str(), values, shape, check.limit.value(dims), {});
        }
    };
}

}  // namespace

const Json& at(const Json& object, std::string_view key) {
    const Json* found = object.find(key);
    if (!found) throw runtime::UserError("a file of the bundle has no '" + std::string(key) + "'");
    return *found;
}

runtime::DType dtype_of(const std::string& name) {
    using runtime::DType;
    for (DType dtype : runtime::kDTypes)
        if (name == name_of(dtype)) return dtype;
    throw runtime::UserError("a file of the bundle has a tensor of '" + name + "'");
}

void CaseTensor::copy_to(void* address, runtime::DType type, std::size_t elements) const {
    if (type != dtype || bytes.size() != elements * size_of(type))
        throw runtime::UserError("the tensor '" + name + "' of the case is " +
                                 std::string(name_of(dtype)) + " " + runtime::shape_text(shape) +
                                 ", which does not fit " + std::to_string(elements) +
                                 " elements of " + std::string(name_of(type)));
    if (!bytes.empty()) std::memcpy(address, bytes.data(), bytes.size());
}

Json model_json(const runtime::Model& model, const std::vector<InputCheck>& checks) {
    const auto specs = [&](const std::vector<runtime::TensorSpec>& all) {
        Array list;
        for (const runtime::TensorSpec& spec : all) list.push_back(spec_json(spec, model.dims));
        return list;
    };
    Array dims, programs;
    for (const std::string& dim : model.dims) dims.push_back(dim);
    for (const runtime::Program& program : model.programs) {
        Array own;
        for (const InputCheck& check : checks)
            if (check.program == program.name)
                own.push_back(Array{check.input, check.holds, check.limit});
        programs.push_back(Object{{"name", program.name},
                                  {"inputs", specs(program.inputs)},
                                  {"outputs", specs(program.outputs)},
                                  {"checks", std::move(own)}});
    }
    return Object{{"name", model.name},
                  {"dims", std::move(dims)},
                  {"parameters", specs(model.parameters)},
                  {"programs", std::move(programs)}};
}

runtime::Model read_model(const Json& json) {
    runtime::Model model;
    model.name = at(json, "name").string();
    for (const Json& dim : at(json, "dims").array()) model.dims.push_back(dim.string());
    model.parameters = read_specs(at(json, "parameters"), model.dims);
    for (const Json& own : at(json, "programs").array()) {
        runtime::Program program;
        program.name = at(own, "name").string();
        program.inputs = read_specs(at(own, "inputs"), model.dims);
        program.outputs = read_specs(at(own, "outputs"), model.dims);
        program.check_inputs = read_checks(at(own, "checks"), program, model);
        model.programs.push_back(std::move(program));
    }
    return model;
}

Json dims_json(const runtime::DimValues& dims) {
    Object object;
    for (const auto& [name, size] : dims) object.emplace_back(name, size);
    return object;
}

runtime::DimValues read_dims(const Json& json) {
    runtime::DimValues dims;
    for (const auto& [name, size] : json.object()) dims[name] = size.integer();
    return dims;
}

CaseFile::CaseFile(std::filesystem::path folder, int number)
    : folder_(std::move(folder)), number_(number) {
    json_ = read("cases/" + std::to_string(number) + ".json");
}

std::map<std::string, std::string> CaseFile::ptx(const Json& paths) const {
    std::map<std::string, std::string> texts;
    for (const auto& [architecture, path] : paths.object())
        texts[architecture] = text_of(folder_ / path.string());
    return texts;
}

CaseTensor CaseFile::tensor(const std::string& name) const {
    const Json* const row = (*this)["tensors"].find(name);
    if (!row)
        throw runtime::UserError("case " + std::to_string(number_) + " has no tensor '" + name +
                                 "'");
    CaseTensor tensor{name, dtype_of(row->array().at(0).string()), {}, {}};
    for (const Json& size : row->array().at(1).array()) tensor.shape.push_back(size.integer());
    tensor.bytes = runtime::read_file((folder_ / row->array().at(2).string()).string());
    const auto elements = static_cast<std::size_t>(runtime::element_count(tensor.shape));
    if (tensor.bytes.size() != elements * size_of(tensor.dtype))
        throw runtime::UserError(row->array().at(2).string() + " has " +
                                 std::to_string(tensor.bytes.size()) + " bytes, and '" + name +
                                 "' is " + runtime::shape_text(tensor.shape));
    return tensor;
}

Json CaseFile::read(const std::string& path) const {
    return runtime::parse_json(text_of(folder_ / path));
}

}  // namespace fovea::bundle
