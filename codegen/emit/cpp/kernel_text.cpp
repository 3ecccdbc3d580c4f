// One kernel as a C++ function.
#include "codegen/emit/cpp/skeletons.h"

namespace fovea::emit {

using kernel::Form;

std::string cpp_kernel(const kernel::Kernel& kernel, const target::Target& target) {
    if (kernel.form == Form::scan) return cpp_scan_kernel(kernel, target);
    if (kernel.form == Form::tiles) return cpp_tile_kernel(kernel, target.cpu.tiles);
    const kernel::LoopNest nest = loop_nest(kernel);
    Signature signature(kernel);
    Writer body;
    body.indent();
    if (kernel.form == Form::contraction)
        write_contraction_kernel(kernel, nest, target, signature, body);
    else if (kernel.form == Form::scatter) write_scatter_kernel(kernel, nest, signature, body);
    else if (!write_pairs_kernel(kernel, nest, signature, body) &&
             !write_transpose_kernel(kernel, nest, signature, body))
        write_row_kernel(kernel, nest, target.cpu.rows, signature, body);
    Writer head;
    signature.write_head(head, body.text());
    return head.text() + body.text() + "}\n";
}

}  // namespace fovea::emit
