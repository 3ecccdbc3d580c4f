// The rows of `fuzz_ops`, family by family.
#pragma once

#include <vector>

#include "tools/fovea/fuzz/recipe.h"

namespace fovea::tool::fuzz {

void append_elementwise_lines(std::vector<FuzzOp>& ops);
void append_movement_lines(std::vector<FuzzOp>& ops);
void append_product_lines(std::vector<FuzzOp>& ops);
void append_row_lines(std::vector<FuzzOp>& ops);
void append_attention_lines(std::vector<FuzzOp>& ops);
void append_arrangement_lines(std::vector<FuzzOp>& ops);
void append_selection_lines(std::vector<FuzzOp>& ops);
void append_window_lines(std::vector<FuzzOp>& ops);
void append_loss_lines(std::vector<FuzzOp>& ops);
void append_scan_lines(std::vector<FuzzOp>& ops);
void append_state_lines(std::vector<FuzzOp>& ops);

}  // namespace fovea::tool::fuzz
