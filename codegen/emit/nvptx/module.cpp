#include "codegen/emit/nvptx/module.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/base/error.h"

namespace fovea::emit::nvptx {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";
constexpr const char* kWaitSeconds = "fovea.wait_seconds";  // a flag of modules
constexpr const char* kPtxFeature = "+ptx80";  // ModuleBuilder::kPtxVersion

const llvm::Target& find_target() {
    static const bool initialised = [] {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
        return true;
    }();
    (void)initialised;
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
    if (!target) throw InternalError("this LLVM has no " + std::string(kTriple) + ": " + error);
    return *target;
}

}  // namespace

ModuleBuilder::ModuleBuilder(const std::string& name, const Target& target) : target_(target) {
    module_ = std::make_unique<llvm::Module>(name, context_);
    machine_.reset(find_target().createTargetMachine(
        kTriple, target.gpu.architecture, kPtxFeature, llvm::TargetOptions(), llvm::Reloc::Static,
        std::nullopt, llvm::CodeGenOptLevel::Aggressive));
    module_->setTargetTriple(kTriple);
    module_->setDataLayout(machine_->createDataLayout());
    if (target.wait_seconds > 0)
        module_->addModuleFlag(llvm::Module::Warning, kWaitSeconds,
                               std::uint32_t(target.wait_seconds));
}

int ModuleBuilder::wait_seconds(const llvm::Module& module) {
    const auto* flag =
        llvm::mdconst::extract_or_null<llvm::ConstantInt>(module.getModuleFlag(kWaitSeconds));
    return flag ? int(flag->getZExtValue()) : 0;
}

void ModuleBuilder::verify() const {
    for (const llvm::Function& function : *module_)
        if (function.isDeclaration() && function.getIntrinsicID() == llvm::Intrinsic::not_intrinsic)
            throw InternalError("LLVM does not know " + function.getName().str());
    std::string text;
    llvm::raw_string_ostream errors(text);
    if (llvm::verifyModule(*module_, &errors)) throw InternalError("not an LLVM module: " + text);
}

void ModuleBuilder::optimize() {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(machine_.get());
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*module_, modules);
}

std::string ModuleBuilder::finish() {
    verify();
    optimize();
    verify();
    llvm::SmallString<0> text;
    llvm::raw_svector_ostream stream(text);
    llvm::legacy::PassManager passes;
    if (machine_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
        throw InternalError("this LLVM cannot write PTX");
    passes.run(*module_);
    return std::string(text);
}

}  // namespace fovea::emit::nvptx
