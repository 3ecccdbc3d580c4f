// The kernels of attention, forward and backward, as models have them: what the tests of kernels
// and of emitters run.
#pragma once

#include <string_view>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "tests/lower/attention_variant.h"

namespace fovea::test {

/// Attention forward with the statistics that its gradients read.
kernel::Kernel attention_forward(const AttentionVariant& variant);

/// All gradients in one kernel, as CPUs compute them.
kernel::Kernel attention_backward(const AttentionVariant& variant);

/// Gradients as kernels whose tiles do without each other, as GPUs compute them: those of keys and
/// values by tiles of keys, that of queries by tiles of queries, then those of what all pairs
/// share, where that is an input; with bfloat16 in memory nothing that a score reads gets one.
std::vector<kernel::Kernel> attention_gradients(const AttentionVariant& variant);

/// Attention forward, and its gradients as GPUs compute them.
std::vector<kernel::Kernel> attention_kernels(const AttentionVariant& variant);

/// The number of the buffer of which a kernel loads a tile: `query`, `key`, `value`, `length`,
/// `cotangent`, `delta`, `largest`.
std::size_t loaded_buffer(const kernel::Kernel& kernel, std::string_view tile);

/// The number of the first buffer that a kernel writes: attention's output; the gradient of keys
/// where a kernel has that of values, too; or that of queries.
std::size_t written_buffer(const kernel::Kernel& kernel);

/// Causal attention with valid lengths: what golden texts show.
AttentionVariant readable_attention();

/// The variants that tests go through.
std::vector<AttentionVariant> attention_variants();
/// The one of that name.
AttentionVariant attention_variant(std::string_view name);

/// The same with another precision, which its name says.
AttentionVariant in_bfloat16(AttentionVariant variant);
AttentionVariant in_bfloat16_memory(AttentionVariant variant);

}  // namespace fovea::test
