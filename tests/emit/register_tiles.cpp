// Products as kernels write them, for a look at what a compiler makes of their sums.
#include "runtime/cpu/contract.h"
#include "runtime/cpu/run.h"
#include "runtime/cpu/threads.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// y[i, j] = Σ k a[i, k] · b[k, j], of known sizes.
void product_of_rows(const float* a, const float* b, float* y, i64 rows) {
    for (const Panel panel : Panels<6, 4>(1, rows, 768)) {
        const StoreProduct finish{y, 768};
        contract<6, 4>(panel, fixed<768>, Operand{a, fixed<512>}, Operand{b, fixed<1>}, finish,
                       Sum{fixed<512>, fixed<1>, fixed<768>});
    }
}

/// The same of b in panels, and of some columns.
void product_of_panels(const float* a, const float* b, float* y, i64 rows) {
    for (const Panel panel : Panels<8, 2>(1, rows, 700, 512, cached_floats(512))) {
        const auto finish = [&](i64 i, i64 j, Lanes lanes, floats product) FOVEA_LAMBDA {
            store(y + i * 700 + j, product + load(y + j, lanes), lanes);
        };
        contract<8, 2>(panel, fixed<700>, Operand{a, fixed<512>}, PanelOperand<32>{b, 512 * 32},
                       finish, Sum{fixed<512>, fixed<1>, fixed<32>});
    }
}

/// y += aᵀ b: rows of a lie side by side, their number is known at run time alone.
void add_product_of_columns(const float* a, const float* b, float* y, i64 rows, i64 steps) {
    for (const Panel panel : Panels<6, 4>(1, rows, 768, steps, kPackedFloats)) {
        const AddProduct finish{y, y, 768};
        contract<6, 4>(panel, fixed<768>, Operand{a, fixed<1>}, Operand{b, fixed<1>}, finish,
                       Sum{steps, rows, fixed<768>});
    }
}

/// y += a b of as many steps as there are.
void add_product_of_rows(const float* a, const float* b, float* y, i64 rows, i64 steps) {
    for (const Panel panel : Panels<6, 4>(1, rows, 768)) {
        const AddProduct finish{y, y, 768};
        contract<6, 4>(panel, fixed<768>, Operand{a, steps}, Operand{b, fixed<1>}, finish,
                       Sum{steps, fixed<1>, fixed<768>});
    }
}

/// y = a bᵀ for any number of columns.
void product_of_some_columns(const float* a, const float* b, float* y, i64 rows, i64 columns) {
    for (const Panel panel : Panels<8, 2>(1, rows, columns)) {
        const auto finish = [&](i64 i, i64 j, Lanes lanes, floats product)
                                FOVEA_LAMBDA { store(y + i * columns + j, product, lanes); };
        contract<8, 2>(panel, columns, Operand{a, fixed<512>}, Operand{b, fixed<512>}, finish,
                       Sum{fixed<512>, fixed<1>, fixed<1>});
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
