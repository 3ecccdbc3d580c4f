// What each family's .cpp defines; `op_defs.cpp` lists them all.
#pragma once

#include "codegen/graph/op_def.h"

namespace fovea::ops {

OpDef leaf_def(Op op);
OpDef constant_def();
OpDef extent_def();
OpDef iota_def();
OpDef elementwise_def();
OpDef stop_gradient_def();
OpDef einsum_def();
OpDef reduce_def();
OpDef rearrange_def();
OpDef broadcast_def();
OpDef slice_def();
OpDef concat_def();
OpDef gather_def();
OpDef scatter_add_def();
OpDef random_def();
OpDef dropout_def();
OpDef softmax_def();
OpDef masked_softmax_def();
OpDef layer_norm_def();
OpDef batch_norm_def();
OpDef cross_entropy_def();
OpDef smoothed_cross_entropy_def();
OpDef attention_def();
OpDef sinusoids_def();
OpDef fused_attention_def();
OpDef scan_def();
OpDef output_def();

}  // namespace fovea::ops
