#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

const std::vector<FuzzOp>& fuzz_ops() {
    static const std::vector<FuzzOp> ops = [] {
        std::vector<FuzzOp> all;
        append_elementwise_lines(all);
        append_movement_lines(all);
        append_product_lines(all);
        append_row_lines(all);
        append_attention_lines(all);
        append_arrangement_lines(all);
        append_selection_lines(all);
        append_window_lines(all);
        append_loss_lines(all);
        append_scan_lines(all);
        append_state_lines(all);
        return all;
    }();
    return ops;
}

}  // namespace fovea::tool::fuzz
