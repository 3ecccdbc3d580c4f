#include "choose_device.h"

#include "../error.h"

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
    if (!model.on_cuda)
        throw UserError(
            "this program was built without kernels for GPUs; fovea build --device cuda adds them");
    return model.on_cuda(model);
}

}  // namespace fovea::runtime::device
