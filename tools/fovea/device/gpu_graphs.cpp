#include "tools/fovea/device/gpu_graphs.h"

#include "dsl/fovea.h"

namespace fovea::tool {

Graph product_graph(std::int64_t k, std::int64_t n, bool tf32) {
    Graph graph;
    Scope s{&graph};
    if (tf32) {
        Tensor a = s.input("a", {"rows", k}), b = s.input("b", {n, k});
        s.output("c", einsum("m k, n k -> m n", a, b));
        return graph;
    }
    Tensor a = s.input("a", {"rows", k}, bf16), b = s.input("b", {k, n}, bf16);
    s.output("c", einsum("m k, k n -> m n", a, b));
    return graph;
}

Graph attention_graph(std::int64_t heads, std::int64_t width, AttentionMask mask, DType dtype,
                      double dropout) {
    Graph graph;
    Scope s{&graph};
    // As in a model: values, and what they lead to, lie in memory as `dtype`.
    Tensor q = cast(s.input("q", {"batch", heads, "queries", width}, dtype), f32);
    Tensor k = cast(s.input("k", {"batch", heads, "keys", width}, dtype), f32);
    Tensor v = cast(s.input("v", {"batch", heads, "keys", width}, dtype), f32);
    Mask chosen = mask == AttentionMask::causal ? causal : no_mask;
    if (mask == AttentionMask::lengths) chosen = padding(s.input("lens", {"batch"}, i32));
    s.output("output", cast(attention(q, k, v, dot_product, chosen, {.dropout = dropout}), dtype));
    return graph;
}

}  // namespace fovea::tool
