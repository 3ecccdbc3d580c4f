// The version, which the build has from project() in CMakeLists.txt.
#include "tools/fovea/version.h"

#include <fmt/format.h>

#include "codegen/emit/llvm_version.h"
#include "runtime/files/weights_format.h"
#include "runtime/main.h"

namespace fovea::tool {

std::string name_and_version() { return "fovea " FOVEA_VERSION; }

std::string version_text() {
    const std::string llvm = emit::llvm_version();
    return fmt::format("{}\ncompiled by {}\n{}\nweights of format {}\n", name_and_version(),
                       FOVEA_COMPILER_NAME,
                       llvm.empty() ? "without LLVM: writes no PTX" : "PTX by LLVM " + llvm,
                       runtime::kWeightsFormat);
}

}  // namespace fovea::tool
