// What each family's .cpp defines; `op_defs.cpp` lists them all.
#pragma once

#include <fmt/format.h>

#include "codegen/graph/op_def.h"
#include "codegen/graph/print.h"

namespace fovea::ops {

OpDef poison_def();
OpDef input_def();
OpDef parameter_def();
OpDef pair_def();
OpDef step_def();
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
OpDef windows_def();
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
OpDef pad_def();
OpDef sum_windows_def();
OpDef when_training_def();
OpDef fused_attention_def();
OpDef linear_cross_entropy_def();
OpDef scan_def();
OpDef output_def();

/// The axes of an operand are the last ones of the result, in place.
AxisUse aligned_axis(const Graph& graph, const Node& node, int operand, int axis);

/// Of slices, concatenations and paddings: axis `Node::axis` moves.
AxisUse all_but_axis(const Graph& graph, const Node& node, int operand, int axis);

/// Input `i`, where it changes with `rank` axes of its own: axes of size 1 go between those in
/// front and its own.
Tensor aligned(const Batch& batch, int i, int rank);
/// Input `i` with the axes in front, of size 1 where it does not change.
Tensor with_front(const Batch& batch, int i);

/// The result's axis `Node::axis` is there.
std::optional<std::string> why_no_axis(const Graph& graph, int id);
/// `concat axis=1`
std::string axis_text(const Graph& graph, const Node& node);
/// `slice axis=1 first=3`
std::string first_text(const Graph& graph, const Node& node);
/// The place where numbers are drawn exists.
std::optional<std::string> why_no_site(const Graph& graph, int id);
/// `dropout p=0.1 site=3`
std::string site_text(const Graph& graph, const Node& node);

}  // namespace fovea::ops
