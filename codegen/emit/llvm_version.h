// The LLVM that writes PTX.
#pragma once

#include <string>

namespace fovea::emit {

/// `19.1.7`; empty in a build without LLVM.
std::string llvm_version();

}  // namespace fovea::emit
