// What a tile of attention by groups of warps does: the bodies of its entries.
#pragma once

#include "codegen/emit/nvptx/attention/attention_group_plan.h"
#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

/// Of plans with one score and one sum, which is scaled from tile to tile.
void write_attention_forward(const AttentionGroupPlan& plan, Function& function);

/// Of plans that only add.
void write_attention_sums(const AttentionGroupPlan& plan, Function& function);

}  // namespace fovea::emit::nvptx
