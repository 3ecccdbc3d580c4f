// A program of the model knows.
#include "reads_padding.h"

#include <algorithm>

namespace fovea::runtime {

bool reads_padding(const Model& model) {
    return std::any_of(model.programs.begin(), model.programs.end(),
                       [](const Program& program) { return program.reads_padding; });
}

}  // namespace fovea::runtime
