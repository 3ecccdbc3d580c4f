// Small models, each legal, that were once refused or gave other numbers than they say.
#pragma once

#include <limits>

#include <fovea.h>

namespace fovea::test {

inline void truncated(Scope s) {  // 2.7 becomes 2, -2.7 becomes -2
    s.output("y", cast(cast(s.input("a", {"n"}) * 2.7, i32), f32));
}
inline void truncated_out(Scope s) { s.output("y", cast(s.input("a", {"n"}), i32)); }
inline void integer_quotient(Scope s) { s.output("y", s.input("a", {"n"}, i32) / 2); }
inline void compared_ids(Scope s) { s.output("y", cast(s.input("a", {"n"}, i32) > 3, i32)); }
inline void divided_by_permuted_sums(Scope s) {  // no softmax
    Tensor e = exp(s.input("a", {3, 3, 4}));
    s.output("y", e / rearrange(sum(e, -1, true), "a b c -> b a c"));
}
inline void square_of_a_sum(Scope s) {
    Dim len = "len";
    s.output("y", softmax(s.input("a", {"batch", len + 1, len + 1}) * 2.0));
}
inline void four_symbols(Scope s) {
    Tensor x = s.input("x", {"batch", "Heads", "intermediate_size", "width"});
    Tensor y = s.input("y", {"batch", "Heads", Dim("width") + 1, "width"});
    s.output("sum", sum(x, -1) + 1.0);
    s.output("product", einsum("b h i w, b h j w -> b h i j", x, y));
    Tensor gain = s.input("gain", {"width"}), shift = s.input("shift", {"width"});
    s.output("rows", rearrange(layer_norm(x, gain, shift), "b h i w -> (b h) (i w)"));
}
inline void one_mask_for_all(Scope s) {
    Tensor q = s.input("q", {"batch", 2, "t", 8}), k = s.input("k", {"batch", 2, "u", 8});
    Tensor v = s.input("v", {"batch", 2, "u", 8}), n = s.input("n", {1, 1, 1, 1}, i32);
    Tensor j = iota(*s.graph, {1, 1, 1, k.dim(2)}, 3);
    Tensor w = softmax(where(j < n, einsum("b h q d, b h k d -> b h q k", q, k), -1e6));
    s.output("y", einsum("b h q k, b h k d -> b h q d", w, v));
}
inline void lengths_of_two_ranks(Scope s) {  // [batch] and [batch, queries] together
    Tensor x = s.input("x", {"batch", "q", "k"});
    Tensor a = s.input("a", {"batch"}, i32), b = s.input("b", {"batch", "q"}, i32);
    s.output("y", masked_softmax(x, padding(a) & padding(b)));
    s.output("z", masked_softmax(x, padding(b) & padding(a)));
}
inline void letters(Scope s) {  // without blanks, as in PyTorch
    Tensor x = s.input("x", {"batch", "len", 8});
    s.output("y", einsum("bti,io->bto", x, s.input("w", {8, 4})));
    s.output("square", einsum("btx, bsx -> bts", x, x));
    s.output("turned", rearrange(x, "btd->bdt"));
}
inline void infinite_numbers(Scope s) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    Tensor x = s.input("x", {"n"});
    s.output("capped", minimum(x, infinity) - infinity);
    s.output("floored", maximum(x, -infinity) * -1e30);
    s.output("divided", tanh(x / 0.0) * 0.0);
    s.output("unknown", where(x > 0.0, nan, -(full(*s.graph, {}, infinity) * x)));
}
inline void scores_of_no_weight(Scope s) {  // rows whose scores are all -infinity are NaN
    Tensor q = s.input("far", {2, 5, 8}), k = s.input("k", {2, 7, 8}), v = s.input("v", {2, 7, 8});
    s.output("y", attention(q, k, v, dot_product));
    s.output("causal", attention(q, k, v, dot_product, causal));
}
inline void losses_of_no_weight(Scope s) {  // classes of no probability beside the label's
    Tensor x = s.input("logits", {2, 3, 5}), labels = s.input("labels", {2, 3}, i32);
    s.output("smoothed", smoothed_cross_entropy(x, labels, 4));
    s.output("plain", cross_entropy(x, labels, s.input("lens", {2}, i32)));
}
inline void cast_to_boolean(Scope s) {
    Tensor a = s.input("a", {"n"}), i = s.input("i", {"n"}, i32);
    s.output("ones", cast(cast(a * 0.0, boolean), f32) + cast(cast(a, boolean), f32));
    s.output("whole", cast(cast(i - 2, boolean), i32) * 5);
    s.output("chosen", where(cast(i - 2, boolean), a, 7.0));
}
inline void whole_numbers_wrap(Scope s) {  // as in two's complement
    Tensor i = s.input("i", {"n"}, i32);
    s.output("sum", i + 2147483646);
    s.output("difference", -2147483647 - i);
    s.output("product", i * 1000000007);
    s.output("negated", -(i * 0 - 2147483647 - 1));
    s.output("states", scan(i, i * 3, [](Tensor v, Tensor state) {
                           Tensor next = state * 69069 + v;
                           return Step{next, next};
                       }).value);
}
inline void scores_of_less_than_a_pair(Scope s) {  // the same for all keys, or for all pairs
    Tensor q = s.input("far", {2, 5, 8}), k = s.input("k", {2, 7, 8}), c = s.input("c", {});
    s.output("of_query", attention(q, k, k, [](Pair p) { return sum(p.q, 0); }));
    s.output("of_position", attention(q, k, k, [](Pair p) { return cast(p.i, f32); }));
    s.output("of_key", attention(q, k, k, [](Pair p) { return cast(p.j, f32) + sum(p.k, 0); }));
    s.output("constant", attention(q, k, k, [&](Pair) { return c; }));
    s.output("nothing", attention(k, k, k, [](Pair p) { return dot_product(p) * 0.0; }, causal));
}
/// Values that bfloat16 does not have, in kernels that store none of them as such.
inline void rounded_casts(Scope s) {
    Tensor a = s.input("a", {"n", 5}) * 1.01;
    Tensor rounded = cast(cast(a, bf16), f32);
    s.output("rounded", rounded);
    s.output("lost", (a - rounded) * 256.0);
    s.output("sums", sum(rounded, -1));
    s.output("constant", cast(cast(full(*s.graph, {2}, 0.1), bf16), f32) * 2.0);
    s.output("scores", softmax(cast(cast(a * 8.0, bf16), f32)));
    Tensor q = s.input("q", {2, 3, 8}) * 1.01;
    s.output("pairs", attention(q, q, q, [](Pair p) {
                 return cast(cast(dot_product(p), bf16), f32) * 3.0;
             }));
}
inline void masked_scores_in_bfloat16(Scope s) {
    Tensor a = s.input("a", {"n", 5}), i = s.input("i", {"n"}, i32);
    Tensor scores = cast(a, bf16);
    const Mask mask = padding(i - 1);  // some of length 0
    s.output("uniform", cast(masked_softmax(scores, mask), f32));
    s.output("zero", cast(masked_softmax(scores, mask.with(MaskedRows::zero)), f32));
}
/// Sums of three numbers that bfloat16 has, which it has not itself.
inline void rows_added_in_bfloat16(Scope s) {
    Tensor a = s.input("a", {"n", 5}), i = s.input("i", {"n"}, i32);
    s.output("table", cast(scatter_add(cast(a * 1.01, bf16), i, 4), f32));
}
/// Attention of all heads, of groups of them, and of none.
inline void heads_of_any_number(Scope s) {
    Tensor q = s.input("q", {2, 4, "t", 8}), k = s.input("k", {2, 2, "u", 8});
    s.output("two_of_each", attention(q, k, k, dot_product, causal));
    Tensor one = slice(k, 1, 1, 1), none = slice(k, 1, 1, 0);
    s.output("all_of_one", attention(q, one, one, scaled_dot_product(0.5)));
    s.output("none", attention(slice(q, 1, 0, 0), none, none, dot_product));
}
/// Rows whose columns are several axes in memory.
inline void rows_of_columns_apart(Scope s) {
    Tensor x = s.input("x", {2, 3, "n", 5}), ids = iota(*s.graph, {3}, 0);
    s.output("table", scatter_add(permute(x, {1, 0, 2, 3}), 2 - ids, 4));
    s.output("of_one_value", scatter_add(permute(amax(x, 3, true), {1, 2, 0, 3}), ids, 3));
}
/// Names that C++, macros or the runtime have taken, for inputs, outputs, sizes and modules.
inline void taken_names(Scope s) {
    const Dim rows = "class", columns = "M_PI";
    Tensor sum_of_all = full(*s.graph, {}, 0);
    for (const char* name : {"errno",   "M_PI", "M_PI_2", "EOF", "NULL",    "class",  "friend",
                             "store",   "load", "floats", "i64", "Panels",  "tensor", "call",
                             "key",     "team", "__2",    "__x", "_X",      "x y",    "x.y",
                             "kLowest", "std",  "assert", "xor", "observe", "2",      "\u00e4"}) {
        Tensor x = s.input(name, {rows, columns});
        s.output(name, softmax(x * 2.0) + 1.0);
        sum_of_all = sum_of_all + x;
    }
    s.output("sum", linear(s / "errno" / "operator", sum_of_all, 4, {.in = columns}));
}

}  // namespace fovea::test
