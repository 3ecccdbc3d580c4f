// One kernel as a C++ function.
#include "codegen/emit/cpp/skeletons.h"

namespace fovea::emit {

std::string cpp_kernel(const kernel::Kernel& kernel) {
    if (kernel.steps) return cpp_scan_kernel(kernel);
    if (loops_over_tiles(kernel)) return cpp_tile_kernel(kernel);
    const Form form = find_form(kernel);
    Signature signature(kernel);
    Writer body;
    body.indent();
    switch (form.kind) {
        case FormKind::rows:
            if (!write_pairs_kernel(kernel, form, signature, body) &&
                !write_transpose_kernel(kernel, form, signature, body))
                write_row_kernel(kernel, form, signature, body);
            break;
        case FormKind::contraction: write_contraction_kernel(kernel, form, signature, body); break;
        case FormKind::scatter: write_scatter_kernel(kernel, form, signature, body); break;
    }
    Writer head;
    signature.write_head(head, body.text());
    return head.text() + body.text() + "}\n";
}

}  // namespace fovea::emit
