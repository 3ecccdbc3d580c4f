#include "read_checkpoint.h"

#include "../files/read_weights.h"
#include "verify_config.h"

namespace fovea::runtime {

SafetensorsFile read_checkpoint(const Model& model, const std::string& weights) {
    if (model.verified_configs) model.verified_configs->verify(model, weights);
    return read_weights(weights);
}

}  // namespace fovea::runtime
