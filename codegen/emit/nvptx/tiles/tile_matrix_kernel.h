// Kernels over tiles whose products are of halves: entries of mma.sync.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/emit/nvptx/tiles/tile_matrix_plan.h"
#include "codegen/emit/ptx_module.h"

namespace fovea::emit::nvptx {

/// Adds the entry of a kernel that has a plan. Products take operands rounded to halves and add
/// in float32; everything else is float32.
PtxLaunch write_tile_matrices(llvm::Module& module, const TileMatrixPlan& plan,
                              const std::string& entry);

}  // namespace fovea::emit::nvptx
