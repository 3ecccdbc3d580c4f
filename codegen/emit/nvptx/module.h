// An LLVM module for one architecture, from empty to PTX text.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/emit/nvptx/emit_ptx.h"

namespace fovea::emit::nvptx {

/// A GPU that PTX is written for.
struct Target {
    std::string architecture;  // sm_80, sm_90, sm_90a
    int wait_seconds = 0;  // PtxOptions
    std::int64_t blocks = kBlocksOfGpu;  // PtxOptions
    /// Matrix products of whole groups of warps, and copies of tensors: sm_90a.
    bool has_wgmma() const { return architecture == "sm_90a"; }
};

class ModuleBuilder {
  public:
    /// Of the text: the oldest that has wgmma and copies of tensors, which drivers from CUDA 12.0
    /// (525) on take.
    static constexpr const char* kPtxVersion = "8.0";

    ModuleBuilder(const std::string& name, const Target& target);

    llvm::Module& module() { return *module_; }
    const Target& target() const { return target_; }
    /// Target::wait_seconds of the module's target.
    static int wait_seconds(const llvm::Module& module);

    /// Verifies and optimizes the module and writes it as PTX. InternalError for a module that is
    /// no LLVM, or calls a function that LLVM does not know: such a call would be one of an
    /// external function in the PTX.
    std::string finish();

  private:
    void verify() const;
    void optimize();

    Target target_;
    llvm::LLVMContext context_;
    std::unique_ptr<llvm::Module> module_;
    std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace fovea::emit::nvptx
