// The PTX target of a build without LLVM: it refuses in a sentence.
#include "codegen/base/error.h"
#include "codegen/emit/llvm_version.h"
#include "codegen/emit/nvptx/emit_ptx.h"

namespace fovea::emit {

const std::vector<std::string>& ptx_architectures() {
    static const std::vector<std::string> none;
    return none;
}

std::optional<std::string> why_not_ptx() {
    return "this build of fovea has no PTX target: it was configured without LLVM 19 (install "
           "llvm-19-dev, and run cmake again)";
}

std::optional<std::string> why_not_ptx(const kernel::Kernel&, const target::Gpu&) {
    return "there is no PTX target";
}

std::vector<PtxModule> emit_ptx(const std::vector<kernel::Kernel>&, const std::vector<target::Gpu>&,
                                const PtxOptions&) {
    throw UserError(*why_not_ptx());
}

PtxModule emit_ptx(const std::vector<kernel::Kernel>&, const target::Gpu&, const PtxOptions&) {
    throw UserError(*why_not_ptx());
}

PtxModule emit_ptx(const std::vector<kernel::Kernel>&, const std::string&, const PtxOptions&) {
    throw UserError(*why_not_ptx());
}

std::string llvm_version() { return ""; }

}  // namespace fovea::emit
