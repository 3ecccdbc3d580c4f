#include "tools/bundle/open_model.h"

#include <algorithm>

#include "runtime/device/code_json.h"
#include "runtime/device/on_device.h"
#include "runtime/error.h"
#include "runtime/memory/shape.h"

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

void read_parameters(const CaseFile& from, runtime::Parameters& parameters) {
    const runtime::Model& model = parameters.model();
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const std::span<float> values = parameters.values(i);
        from.tensor("parameter " + model.parameters[i].name)
            .copy_to(values.data(), runtime::DType::f32, values.size());
    }
}

void read_inputs(const CaseFile& from, runtime::Instance& instance) {
    for (const runtime::TensorSpec& spec : instance.program().inputs)
        from.tensor("input " + spec.name)
            .copy_to(instance.input<void>(spec.name), spec.dtype,
                     std::size_t(runtime::element_count(instance.shape_of(spec))));
}

}  // namespace fovea::bundle
