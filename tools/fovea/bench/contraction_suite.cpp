// Matrix products of the sizes that models have.
#include <fmt/format.h>

#include "dsl/fovea.h"
#include "tools/fovea/bench/kernel_suite.h"
#include "tools/fovea/bench/suites.h"

namespace fovea::tool {

namespace {

struct Product {
    std::int64_t m, k, n;
    bool transposed = false;  // B is [n, k], as the weights of a linear layer lie
    DType dtype = f32;        // of A, B and C; sums are float32

    std::string program() const {
        return fmt::format("product_{}x{}{}{}", k, n, transposed ? "_transposed" : "",
                           dtype == bf16 ? "_bf16" : "");
    }
    std::string name() const {
        return fmt::format("{}x{}x{}{}{}", m, k, n, transposed ? " transposed" : "",
                           dtype == bf16 ? " bf16" : "");
    }
};

constexpr Product kProducts[] = {{512, 512, 512},
                                 {1024, 512, 2048},
                                 {640, 32, 32},
                                 {640, 32, 32, true},
                                 {8, 512, 512},
                                 {1, 2048, 512},
                                 {2048, 2048, 2048},
                                 {1024, 1024, 1024, false, bf16},
                                 {1024, 1024, 1024, true, bf16}};
constexpr Product kQuickProducts[] = {
    {24, 16, 40}, {24, 16, 40, true}, {1, 16, 40}, {24, 16, 40, false, bf16}};

Graph bench_product_graph(const Product& product) {
    Graph graph;
    Scope s{&graph};
    Tensor a = s.input("a", {"rows", product.k}, product.dtype);
    if (product.transposed) {
        Tensor b = s.input("b", {product.n, product.k}, product.dtype);
        s.output("c", einsum("m k, n k -> m n", a, b));
    } else {
        Tensor b = s.input("b", {product.k, product.n}, product.dtype);
        s.output("c", einsum("m k, k n -> m n", a, b));
    }
    return graph;
}

KernelCase product_case(const Product& product) {
    const auto m = double(product.m), k = double(product.k), n = double(product.n);
    KernelCase result{.program = product.program()};
    result.work.name = product.name();
    result.work.pass = "forward";
    result.work.dims = {{"rows", product.m}, {"k", product.k}, {"n", product.n}};
    result.work.flops = 2 * m * k * n;
    result.work.dtype = name_of(product.dtype);
    result.work.bytes = (product.dtype == bf16 ? 2 : 4) * (m * k + k * n + m * n);
    return result;
}

}  // namespace

std::vector<BenchRow> bench_contraction(Bench& bench) {
    KernelSuite suite("contraction");
    std::vector<Product> products(std::begin(kProducts), std::end(kProducts));
    if (bench.quick()) products.assign(std::begin(kQuickProducts), std::end(kQuickProducts));
    for (const Product& product : products) {
        suite.add_program(product.program(), bench_product_graph(product), false);
        suite.add_case(product_case(product));
    }
    return suite.run(bench);
}

}  // namespace fovea::tool
