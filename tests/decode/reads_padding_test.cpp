// Which models depend on how far their source is padded.
#include "codegen/decode/reads_padding.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include "codegen/graph/scan_function.h"

using namespace fovea;

namespace {

/// Of what `make` computes of x [batch, src_len, 4], made of the source.
template <class Make>
bool reads(Make&& make, Dim length = "src_len") {
    Graph graph;
    Scope s{&graph};
    Tensor src = s.input("src", {"batch", length}, i32);
    s.output("y", make(s, embedding(s / "words", src, 9, 4)));
    return reads_padding(seal_scans(graph));
}

Tensor attend(Tensor x, const Mask& mask) { return attention(x, x, x, dot_product, mask); }
Tensor lens_of(Scope s) { return s.input("src_lens", {"batch"}, i32); }

}  // namespace

TEST_CASE("what keeps positions of a source apart, or masks them, does not read padding") {
    CHECK_FALSE(reads([](Scope s, Tensor x) { return layer_norm(s / "norm", x * 2.0); }));
    CHECK_FALSE(reads([](Scope s, Tensor x) { return attend(x, padding(lens_of(s))); }));
    CHECK_FALSE(reads([](Scope s, Tensor x) {
        Tensor shown = s.input("shown", {"batch", 1, "src_len"}, i32);
        return x + sinusoids(x) + attend(x, allowed(shown > 0));
    }));
    CHECK_FALSE(reads([](Scope, Tensor x) { return mean(x, 1); }, 7));
}

TEST_CASE("loops over a source, sums of it and its length read padding") {
    CHECK(reads([](Scope, Tensor x) { return cumsum(x, 1); }));
    CHECK(reads([](Scope, Tensor x) { return mean(x, 1); }));
    CHECK(reads([](Scope, Tensor x) { return attend(x, {}); }));
    CHECK(reads([](Scope, Tensor x) { return attend(x, causal); }));
    CHECK(reads([](Scope, Tensor x) { return x / sqrt(x.dim(1)); }));
    // Within a step of a loop over other things.
    CHECK(reads([](Scope, Tensor x) {
        const auto step = [&](Tensor q, Tensor state) {
            return Step{squeeze(attention(unsqueeze(q, 1), x, x, dot_product), 1), state};
        };
        Tensor queries = full(*x.graph, {3, "batch", 4}, 1.0);
        return scan(queries, full(*x.graph, {"batch", 4}, 0.0), step).value;
    }));
}
