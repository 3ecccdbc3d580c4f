#include "tools/bundle/open_model.h"

#include <algorithm>

#include "runtime/device/code_json.h"
#include "runtime/device/on_device.h"
#include "runtime/error.h"

namespace fovea::bundle {

namespace device = runtime::device;

OpenModel open_model(const CaseFile& from, std::shared_ptr<device::Device> on,
                     const std::string& architecture) {
    const runtime::Json json = from.read(from.text("model"));
    device::Code code = device::read_code(at(json, "tables").text(), from.ptx(at(json, "ptx")));
    if (!architecture.empty())
        std::erase_if(code.modules,
                      [&](const auto& module) { return module.architecture != architecture; });
    std::vector<std::string> names;
    for (const device::Module& module : code.modules) names.push_back(module.architecture);
    const std::string best = on->choose(names);
    if (best.empty()) return {};
    const runtime::Model description = read_model(at(json, "model"));
    return {std::make_shared<const runtime::Model>(device::on_device(
                description, std::move(on), std::make_shared<const device::Code>(code))),
            best};
}

const runtime::TensorView& tensor_of(const runtime::SafetensorsFile& data,
                                     const std::string& name) {
    const runtime::TensorView* tensor = data.find(name);
    if (!tensor) throw runtime::UserError(data.path() + " has no tensor '" + name + "'");
    return *tensor;
}

void read_parameters(const runtime::SafetensorsFile& data, runtime::Parameters& parameters) {
    const runtime::Model& model = parameters.model();
    for (std::size_t i = 0; i < parameters.count(); ++i)
        runtime::copy_tensor(data, tensor_of(data, "parameter " + model.parameters[i].name),
                             "parameter", model.parameters[i].dtype, parameters.shape(i),
                             parameters.values(i).data());
}

void read_inputs(const runtime::SafetensorsFile& data, runtime::Instance& instance) {
    for (const runtime::TensorSpec& spec : instance.program().inputs)
        runtime::copy_tensor(data, tensor_of(data, "input " + spec.name), "input", spec.dtype,
                             instance.shape_of(spec), instance.input<void>(spec.name));
}

}  // namespace fovea::bundle
