// Weights of whole numbers in files: the numbers under a parameter's name, int8 [rows, depth] or
// two of 4 bits in a byte [rows, (depth + 1) / 2], the first in its lower half, as -8 to 7 by two's
// complement; and `NAME.scales`, bfloat16 [rows, groups]. `fovea_weights` in `__metadata__` says
// int8:32, say: type and size of groups.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "../parameters.h"
#include "../safetensors.h"

namespace fovea::runtime {

/// How the weights of a model lie that lie as whole numbers; floats where none does.
WeightStorage storage_of(const Model& model);

/// What a file says of its own. UserError where that is nothing that there is.
WeightStorage storage_in(const SafetensorsFile& file);

/// The command that makes weights as a model takes them: that of its program, or fovea's own.
std::string quantizing(const Model& model);

/// UserError where a file's weights are not of the storage that a model takes: it says which each
/// has, and what to do.
void verify_storage(const Model& model, const SafetensorsFile& file);

/// What parameters are as tensors to write, as floats or as whole numbers, and what owns the bytes.
struct WeightTensors {
    std::vector<TensorView> tensors;
    std::deque<std::vector<std::byte>> owned;
};
WeightTensors tensors_to_write(Parameters& parameters);
/// What the file with them says.
Metadata metadata_to_write(const Model& model);

}  // namespace fovea::runtime
