// What functions of PyTorch are called here.
#pragma once

#include <string>

namespace fovea::tool {

/// A sentence for a compiler's error about a name that is PyTorch's, to go behind it; empty for
/// others.
std::string advice_of_pytorch_name(const std::string& error);

}  // namespace fovea::tool
