// Floating point operations that a graph asks for, whatever code computes them.
#pragma once

#include "codegen/fuse/fuse.h"
#include "codegen/graph/graph.h"
#include "codegen/plan/plan.h"
#include "tools/fovea/plan_table.h"

namespace fovea::tool {

/// How many elements a shape has at these sizes.
double elements(const Shape& shape, const SampleDims& dims);

/// Of contractions and attention, as a model's function states them (composites intact): 2 for a
/// multiply-add; attention 4 · batch · heads · queries · keys · width, visible pairs only, lengths
/// taken to be full. With `training` also those of the gradients: twice as many for a contraction,
/// 10 instead of 4 more for attention.
double product_flops(const Graph& graph, bool training, const SampleDims& dims);

/// Of elementwise ops and reductions of an optimized graph, those of the backward pass or all
/// others: one for each element that goes in; comparisons, selections and integers are free.
double row_flops(const Graph& graph, bool backward, const SampleDims& dims);

/// Of a kernel: its products, its attention or the gradients of it, its elementwise ops and
/// reductions. Those of a loss without logits are not counted.
double kernel_flops(const Graph& graph, const fuse::Group& group, const SampleDims& dims);

/// Bytes of parameters, prepared ones among them, that one run of a program reads: all of them but
/// tables, of which it gathers rows.
double weight_bytes(const plan::Model& model, const plan::Program& program, const SampleDims& dims);

}  // namespace fovea::tool
