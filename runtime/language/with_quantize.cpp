// A model whose program has the command `quantize`.
#include "../main.h"
#include "quantize_command.h"

namespace fovea::runtime {

const Model& with_quantize(const Model& model) {
    auto* const result = new Model(model);  // as long as the process lasts
    result->quantize = quantize_command;
    return *result;
}

}  // namespace fovea::runtime
