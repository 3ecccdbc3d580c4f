// Attention by groups of warps that have one task each (sm_90a): entries of wgmma and tensor maps.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/emit/nvptx/attention/attention_group_plan.h"
#include "codegen/emit/ptx_module.h"

namespace fovea::emit::nvptx {

/// Adds the entry of a kernel that has a plan. Products take operands of halves and add in
/// float32; everything else is float32.
PtxLaunch write_attention_group(llvm::Module& module, const AttentionGroupPlan& plan,
                                const std::string& entry);

}  // namespace fovea::emit::nvptx
