#include "choose_device.h"

#include "../error.h"
#include "cuda_device.h"
#include "on_device.h"

namespace fovea::runtime::device {

OptionSpec device_option() {
    return {.name = "device",
            .kind = OptionKind::text,
            .value_name = "cpu|cuda",
            .help = "where kernels run",
            .default_text = "cpu"};
}

Model choose_device(const Model& model, const std::string& device) {
    if (device == "cpu") return model;
    if (device != "cuda")
        throw UserError("option '--device' takes cpu or cuda, not '" + device + "'");
    if (!model.device_code) throw UserError("this program was built without kernels for GPUs");
    const std::shared_ptr<const Code> code = model.device_code();
    return on_device(model, open_cuda(), code);
}

}  // namespace fovea::runtime::device
