// Modules from LLVM to text: what is refused, and what stands around the entries.
#include <doctest/doctest.h>

#include <llvm/IR/IRBuilder.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/emit/nvptx/module.h"
#include "codegen/target/target.h"
#include "tests/emit/sample_kernels.h"
#include "tests/lower/attention_kernels.h"

using namespace fovea;
using namespace fovea::test;
using emit::nvptx::ModuleBuilder;

namespace {

/// An entry that calls a function without arguments.
void add_call(llvm::Module& module, const std::string& name) {
    llvm::IRBuilder<> ir(module.getContext());
    auto* type = llvm::FunctionType::get(ir.getVoidTy(), {}, false);
    auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "entry", module);
    ir.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "start", entry));
    ir.CreateCall(module.getOrInsertFunction(name, type));
    ir.CreateRetVoid();
}

}  // namespace

TEST_CASE("a function that LLVM does not know is refused") {
    ModuleBuilder known("known", {target::gpu_of("sm_90")});
    add_call(known.module(), "llvm.nvvm.barrier0");
    CHECK(known.finish().find("bar.sync") != std::string::npos);
    ModuleBuilder unknown("unknown", {target::gpu_of("sm_90")});
    add_call(unknown.module(), "llvm.nvvm.barrier7");
    CHECK_THROWS_WITH_AS(unknown.finish(), "LLVM does not know llvm.nvvm.barrier7", InternalError);
}

TEST_CASE("the formula, the user's lines and the buffers stand above an entry") {
    const std::string text = emit::emit_ptx({sample_row_kernels()[0]}, "sm_80").text;
    CHECK(text.find("\n// y = softmax(where(key < lens, x, -1e6))\n"
                    "// transformer.cpp:21\n"
                    "// x: f32[b, m, n]\n"
                    "// lens: i32[b]\n"
                    "// y, written: f32[b, m, n]\n"
                    ".visible .entry softmax(\n"
                    "\t.param .u64 softmax_param_x,\n"
                    "\t.param .u64 softmax_param_lens,\n"
                    "\t.param .u64 softmax_param_y,\n"
                    "\t.param .u64 softmax_param_b,\n") != std::string::npos);
    CHECK(text.find(".version 8.0\n.target sm_80\n") != std::string::npos);
}

TEST_CASE("text is ASCII") {
    kernel::Kernel softmax = sample_row_kernels()[0];
    softmax.formula = "Σ a · b → c";
    const std::string text = emit::emit_ptx({softmax}, "sm_90").text;
    CHECK(text.find("\n// sum a * b ? c\n") != std::string::npos);
}

TEST_CASE("kernels of one name are entries of two") {
    const kernel::Kernel softmax = sample_row_kernels()[0];
    const emit::PtxModule module = emit::emit_ptx({softmax, softmax}, "sm_90a");
    CHECK(module.kernels[0].launches[0].entry == "softmax");
    CHECK(module.kernels[1].launches[0].entry == "softmax_2");
    CHECK(module.text.find(".entry softmax_2(") != std::string::npos);
}

TEST_CASE("what architectures share is what LLVM writes for each by itself") {
    std::vector<kernel::Kernel> kernels = sample_row_kernels();
    for (const kernel::Kernel& kernel : sample_column_kernels()) kernels.push_back(kernel);
    for (const kernel::Kernel& kernel : sample_bfloat16_contractions()) kernels.push_back(kernel);
    kernels.push_back(attention_forward(readable_attention()));
    const std::vector<std::string>& architectures = emit::ptx_architectures();
    const std::vector<emit::PtxModule> modules = emit::emit_ptx(kernels, target::gpu_target().gpus);
    for (std::size_t i = 0; i < modules.size(); ++i)
        CHECK(modules[i].text == emit::emit_ptx(kernels, architectures[i]).text);
}
