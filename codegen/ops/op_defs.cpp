// The one explicit list of the ops' definitions.
#include <array>
#include <iterator>

#include "codegen/ops/definitions.h"

namespace fovea {

namespace {

constexpr std::size_t kCount = std::size(kOps);

std::array<OpDef, kCount> make_list() {
    using namespace ops;
    std::array<OpDef, kCount> list{};
    for (const OpDef& def : {
             poison_def(),
             input_def(),
             parameter_def(),
             constant_def(),
             extent_def(),
             iota_def(),
             pair_def(),
             step_def(),
             elementwise_def(),
             einsum_def(),
             reduce_def(),
             rearrange_def(),
             broadcast_def(),
             slice_def(),
             concat_def(),
             gather_def(),
             scatter_add_def(),
             random_def(),
             stop_gradient_def(),
             dropout_def(),
             softmax_def(),
             masked_softmax_def(),
             layer_norm_def(),
             batch_norm_def(),
             cross_entropy_def(),
             smoothed_cross_entropy_def(),
             attention_def(),
             sinusoids_def(),
             pad_def(),
             windows_def(),
             sum_windows_def(),
             when_training_def(),
             fused_attention_def(),
             linear_cross_entropy_def(),
             scan_def(),
             output_def(),
         })
        list[std::size_t(def.op)] = def;
    return list;
}

}  // namespace

std::span<const OpDef> op_defs() {
    static const std::array<OpDef, kCount> list = make_list();
    return list;
}

const OpDef& op_def(Op op) { return op_defs()[std::size_t(op)]; }

}  // namespace fovea
