// Matrix products, as `fovea bench --suite contraction` has them.
#include <fovea.h>
using namespace fovea;

namespace {

constexpr void product(Scope s, std::int64_t k, std::int64_t n) {
    Tensor a = s.input("a", {"rows", k}), b = s.input("b", {k, n});
    s.output("c", einsum("m k, k n -> m n", a, b));
}
/// b lies as the weights of a linear layer do.
constexpr void product_transposed(Scope s, std::int64_t k, std::int64_t n) {
    Tensor a = s.input("a", {"rows", k}), b = s.input("b", {n, k});
    s.output("c", einsum("m k, n k -> m n", a, b));
}

}  // namespace

constexpr void product_16x40(Scope s) { product(s, 16, 40); }
constexpr void product_16x40_transposed(Scope s) { product_transposed(s, 16, 40); }
constexpr void product_32x32(Scope s) { product(s, 32, 32); }
constexpr void product_32x32_transposed(Scope s) { product_transposed(s, 32, 32); }
constexpr void product_512x512(Scope s) { product(s, 512, 512); }
constexpr void product_512x2048(Scope s) { product(s, 512, 2048); }
constexpr void product_2048x512(Scope s) { product(s, 2048, 512); }
constexpr void product_2048x2048(Scope s) { product(s, 2048, 2048); }
