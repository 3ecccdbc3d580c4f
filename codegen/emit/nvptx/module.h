// An LLVM module for one architecture, from empty to PTX text.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/emit/nvptx/emit_ptx.h"

namespace fovea::emit::nvptx {

/// What PTX is written for.
struct Target {
    target::Gpu gpu;
    int wait_seconds = 0;  // PtxOptions
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
