// The version of the library that was linked.
#include "codegen/emit/llvm_version.h"

#include <llvm/Config/llvm-config.h>

namespace fovea::emit {

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace fovea::emit
