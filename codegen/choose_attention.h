// Which attentions become one kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/fuse/estimate_attention.h"
#include "codegen/graph/graph.h"
#include "codegen/ops/attention/fused_attention.h"

namespace fovea {

/// `faster`: where sizes are static, the form that is estimated to be faster; or always one form.
enum class AttentionForm { faster, fused, plain };

/// An attention that can be one kernel, and what was chosen for it.
struct AttentionChoice {
    std::string place;       // `encoder.block0.attention (transformer.cpp:21)`
    Shape query, key, value;
    fuse::AttentionWork work;  // sizes 1 where a dim is symbolic
    bool fused = true;
    std::string reason;

    bool is_static() const;
    /// The work at sizes given for all dims.
    fuse::AttentionWork work_at(const std::function<std::int64_t(const Dim&)>& size_of) const;
};

/// Chooses for attention node `id`, whose score is `function`.
AttentionChoice choose_attention(const Graph& graph, int id, const ScoreFunction& function,
                                 bool gradient, AttentionForm form,
                                 const target::AttentionChoices& target);

}  // namespace fovea
