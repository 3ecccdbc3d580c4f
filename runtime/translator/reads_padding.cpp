// Inputs of the encoder, by name.
#include "reads_padding.h"

#include <algorithm>

namespace fovea::runtime {

bool reads_padding(const Model& model) {
    for (const Program& program : model.programs) {
        if (program.name != "encode") continue;
        return std::none_of(program.inputs.begin(), program.inputs.end(),
                            [](const TensorSpec& input) { return input.name == "src_lens"; });
    }
    return false;
}

}  // namespace fovea::runtime
