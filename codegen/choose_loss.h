// Which losses do without their logits.
#pragma once

#include <string>

#include "codegen/choose_attention.h"
#include "codegen/group/fuse_loss.h"

namespace fovea {

/// A cross entropy whose logits are a product, and what was chosen for it.
struct LossChoice {
    Dim rows{}, classes{}, width{};
    bool fused = true;  // its logits are not stored
    std::string reason;
};

/// Chooses for a loss whose logits come from `product`, in a program of values of type `dtype`.
LossChoice choose_loss(const LossProduct& product, DType dtype, AttentionForm form,
                       const target::LossChoices& target);

}  // namespace fovea
