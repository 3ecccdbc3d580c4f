// Every function of the language refuses wrong arguments: a sentence with its name, the sizes and
// the user's line, and nothing is taken that later stages cannot run.
#include "tests/errors/wrong_calls.h"

#include <cmath>
#include <limits>

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// i32 [batch].
Tensor sum_of(Tensor ids) { return cast(sum(cast(ids, f32), 1), i32); }

const std::vector<WrongCall> kMovements = {
    {"rearrange", "[batch, 6, 4]", [](Given& g) { rearrange(g.x, "a b -> b a"); }},
    {"rearrange", "[batch, 6, 4]", [](Given& g) { rearrange(g.x, "a b c d -> a b c d"); }},
    {"rearrange", "once", [](Given& g) { rearrange(g.x, "a b c -> a b"); }},
    {"rearrange", "once", [](Given& g) { rearrange(g.x, "a b c -> a b b"); }},
    {"rearrange", "once", [](Given& g) { rearrange(g.x, "a b c -> a b c c"); }},
    {"rearrange", "twice", [](Given& g) { rearrange(g.x, "a b b -> a b"); }},
    {"rearrange", "6", [](Given& g) { rearrange(g.x, "a 1 c -> a c"); }},
    {"rearrange", "comma", [](Given& g) { rearrange(g.x, "a, b, c -> a b c"); }},
    {"rearrange", "h=4", [](Given& g) { rearrange(g.x, "a (h b) c -> a h b c", {"h", 4}); }},
    {"rearrange", "h=0", [](Given& g) { rearrange(g.x, "a (h b) c -> a h b c", {"h", 0}); }},
    {"rearrange", "6", [](Given& g) { rearrange(g.x, "a b c -> b a c", {"b", 7}); }},
    {"rearrange", "z", [](Given& g) { rearrange(g.x, "a b c -> b a c", {"z", 7}); }},
    {"rearrange", "size", [](Given& g) { rearrange(g.x, "a (h b) c -> a h b c"); }},
    {"rearrange", "axes", [](Given& g) { rearrange(g.x, "a b c -> a 1 1 1 1 b c"); }},
    {"squeeze", "no axis 3", [](Given& g) { squeeze(g.x, 3); }},
    {"squeeze", "no axis -4", [](Given& g) { squeeze(g.x, -4); }},
    {"squeeze", "is 6, not 1", [](Given& g) { squeeze(g.x, 1); }},
    {"squeeze", "is batch, not 1", [](Given& g) { squeeze(g.x, 0); }},
    {"squeeze", "[]", [](Given& g) { squeeze(g.one, 0); }},
    {"unsqueeze", "[batch, 6, 4]", [](Given& g) { unsqueeze(g.x, 4); }},
    {"unsqueeze", "[batch, 6, 4]", [](Given& g) { unsqueeze(g.x, -5); }},
    {"unsqueeze", "[1, 2, 3, 4, 5, 6]", [](Given& g) { unsqueeze(g.six, 0); }},
    {"permute", "[batch, 6, 4]", [](Given& g) { permute(g.x, {0, 1, 1}); }},
    {"permute", "[batch, 6, 4]", [](Given& g) { permute(g.x, {0, 1, 3}); }},
    {"permute", "[batch, 6, 4]", [](Given& g) { permute(g.x, {0, -1, 2}); }},
    {"broadcast", "[batch, 12, 4]", [](Given& g) { broadcast(g.x, {"batch", 12, 4}); }},
    {"broadcast", "[6, 4]", [](Given& g) { broadcast(g.x, {6, 4}); }},
    {"broadcast", "len", [](Given& g) { broadcast(g.x, {"len", 6, 4}); }},
    {"broadcast", "-3", [](Given& g) { broadcast(g.one, {-3}); }},
    {"broadcast", "axes", [](Given& g) { broadcast(g.one, {1, 2, 3, 4, 5, 6, 7}); }},
    {"slice", "no axis 3", [](Given& g) { slice(g.x, 3, 0, 1); }},
    {"slice", "no axis -4", [](Given& g) { slice(g.x, -4, 0, 1); }},
    {"slice", "no axis 0", [](Given& g) { slice(g.one, 0, 0, 1); }},
    {"slice", "3 to 7", [](Given& g) { slice(g.x, 1, 3, 4); }},
    {"slice", "-1 to 1", [](Given& g) { slice(g.x, 1, -1, 2); }},
    {"slice", "3 to 1", [](Given& g) { slice(g.x, 1, 3, -2); }},
    {"slice", "-2 to 0", [](Given& g) { slice(g.x, 0, -2, 2); }},
    {"slice", "0 to batch+1", [](Given& g) { slice(g.x, 0, 0, g.x.dim(0) + 1); }},
    {"slice", "5 / 2", [](Given& g) { slice(g.x, 1, 0, Dim(5) / 2); }},
    {"concat", "[batch, len]", [](Given& g) { concat(g.x, g.m, 0); }},
    {"concat", "axis 3", [](Given& g) { concat(g.x, g.x, 3); }},
    {"concat", "axis 0", [](Given& g) { concat(g.one, g.one, 0); }},
    {"concat", "i32", [](Given& g) { concat(g.m, g.ids, 0); }},
    {"concat", "[batch, len]", [](Given& g) { concat(g.m, slice(g.m, 0, 0, 2), 1); }},
    {"iota", "no axis 3", [](Given& g) { iota(*g.s.graph, {6, 1}, 3); }},
    {"iota", "no axis -3", [](Given& g) { iota(*g.s.graph, {6, 1}, -3); }},
    {"iota", "no axis 0", [](Given& g) { iota(*g.s.graph, {}, 0); }},
    {"iota", "-2", [](Given& g) { iota(*g.s.graph, {-2}, 0); }},
    {"dim", "[batch, 6, 4]", [](Given& g) { (void)g.x.dim(3); }},
    {"dim", "[batch, 6, 4]", [](Given& g) { (void)g.x.dim(-4); }},
};

const std::vector<WrongCall> kFunctions = {
    {"exp", "i32 [batch, len]", [](Given& g) { exp(g.ids); }},
    {"exp", "bool [batch, len]", [](Given& g) { exp(g.seen); }},
    {"gelu", "i32 [batch, len]", [](Given& g) { gelu(g.ids); }},
    {"relu", "i32 [batch, len]", [](Given& g) { relu(g.ids); }},
    {"floor", "i32 [batch, len]", [](Given& g) { floor(g.ids); }},
    {"abs", "bool [batch, len]", [](Given& g) { abs(g.seen); }},
    {"atan2", "6 is not batch", [](Given& g) { atan2(g.x, g.m); }},
    {"neg", "bool [batch, len]", [](Given& g) { -g.seen; }},
    {"logical_not", "f32 [batch, len]", [](Given& g) { logical_not(g.m); }},
    {"logical_and", "f32 [batch, len]", [](Given& g) { logical_and(g.seen, g.m); }},
    {"logical_or", "0 and 1", [](Given& g) { logical_or(g.seen, 2); }},
    {"add", "6 is not batch", [](Given& g) { g.x + g.m; }},
    {"add", "f32 is not i32", [](Given& g) { g.m + g.ids; }},
    {"add", "bool [batch, len]", [](Given& g) { g.seen + 1; }},
    {"add", "f32 first", [](Given& g) { g.ids + 0.5; }},
    {"lt", "f32 first", [](Given& g) { (void)(g.ids < 0.5); }},
    {"lt", "f32 first", [](Given& g) { (void)(g.ids > 0.5); }},
    {"mul", "f32 first", [](Given& g) { 0.5 * g.ids; }},
    {"div", "f32 first", [](Given& g) { g.ids / 0.5; }},
    {"maximum", "2147483647", [](Given& g) { maximum(g.ids, 2147483648.0); }},
    {"minimum", "2147483647", [](Given& g) { minimum(g.ids, -3e9); }},
    {"eq", "2147483647", [](Given& g) { eq(g.ids, kNan); }},
    {"pow", "f32 first", [](Given& g) { pow(g.ids, 0.5); }},
    {"mul", "square roots", [](Given& g) { g.ids* sqrt(Dim(64)); }},
    {"where", "i32 [batch, len]", [](Given& g) { where(g.ids, g.m, 0.0); }},
    {"where", "f32 is not i32", [](Given& g) { where(g.seen, g.m, g.ids); }},
    {"where", "batch is not 6", [](Given& g) { where(g.seen, g.x, 0.0); }},
    {"where", "f32 first", [](Given& g) { where(g.seen, g.ids, 0.5); }},
    {"full", "f32 first", [](Given& g) { full(*g.s.graph, {3}, 0.5, i32); }},
    {"full", "0 and 1", [](Given& g) { full(*g.s.graph, {3}, 7, DType::boolean); }},
    {"constant", "-3", [](Given& g) { full(*g.s.graph, {-3}, 1); }},
    {"add", "empty", [](Given& g) { g.x + g.empty; }},
    {"exp", "empty", [](Given& g) { exp(g.empty); }},
    {"add", "empty", [](Given&) { Dim(3) + 0.5; }},
    {"where", "empty", [](Given& g) { where(g.empty, g.x, g.x); }},
    {"cast", "empty", [](Given& g) { cast(g.empty, i32); }},
    {"stop_gradient", "empty", [](Given& g) { stop_gradient(g.empty); }},
};

const std::vector<WrongCall> kReductions = {
    {"sum", "axis 3 of f32 [batch, 6, 4]", [](Given& g) { sum(g.x, 3); }},
    {"sum", "axis -4 of f32 [batch, 6, 4]", [](Given& g) { sum(g.x, -4); }},
    {"sum", "f32 []", [](Given& g) { sum(g.one, 0); }},
    {"sum", "i32 [batch, len]", [](Given& g) { sum(g.ids, 0); }},
    {"mean", "bool [batch, len]", [](Given& g) { mean(g.seen, 0); }},
    {"mean", "axis 2", [](Given& g) { mean(g.m, 2); }},
    {"amax", "axis 2", [](Given& g) { amax(g.m, 2); }},
    {"sum", "f32 []", [](Given& g) { dot(g.one, g.one); }},
    {"softmax", "axis 3 of f32 [batch, 6, 4]", [](Given& g) { softmax(g.x, 3); }},
    {"softmax", "f32 []", [](Given& g) { softmax(g.one); }},
    {"softmax", "i32 [batch, len]", [](Given& g) { softmax(g.ids); }},
    {"masked_softmax", "f32 [4]", [](Given& g) { masked_softmax(g.v, causal); }},
    {"masked_softmax", "-1 and 0", [](Given& g) { masked_softmax(g.x, window(-1, 0)); }},
    {"attention", "2 and -3",
     [](Given& g) { attention(g.x, g.x, g.x, dot_product, window(2, -3)); }},
    {"masked_softmax", "i32 [batch, len]", [](Given& g) { masked_softmax(g.x, padding(g.ids)); }},
    {"masked_softmax", "f32 [4]", [](Given& g) { masked_softmax(g.x, padding(g.v)); }},
    {"masked_softmax", "bool [batch, len]", [](Given& g) { masked_softmax(g.x, allowed(g.seen)); }},
    {"masked_softmax", "f32 [batch, 6, 4]", [](Given& g) { masked_softmax(g.x, allowed(g.x)); }},
    {"einsum", "rank of operand 1", [](Given& g) { einsum("a b, c d -> a d", g.x, g.m); }},
    {"einsum", "rank of operand 2", [](Given& g) { einsum("a b c, d -> a d", g.x, g.m); }},
    {"einsum", "axis b", [](Given& g) { einsum("a b c, a b -> a c", g.x, g.m); }},
    {"einsum", "twice", [](Given& g) { einsum("a a, b -> b", g.m, g.v); }},
    {"einsum", "twice", [](Given& g) { einsum("a b, c -> a a", g.m, g.v); }},
    {"einsum", "groups", [](Given& g) { einsum("a b, c -> (a b) c", g.m, g.v); }},
    {"einsum", "one result", [](Given& g) { einsum("a b, c -> a, b", g.m, g.v); }},
    {"einsum", "axes 1", [](Given& g) { einsum("a b, c -> a 1", g.m, g.v); }},
    {"einsum", "3 operands", [](Given& g) { einsum("a b, c, d -> a", g.m, g.v); }},
    {"einsum", "i32", [](Given& g) { einsum("a b, a b -> a", g.m, g.ids); }},
    {"einsum", "at most 6",
     [](Given& g) { einsum("a b c d e f, g -> a b c d e f g", g.six, g.v); }},
    {"layer_norm", "[batch, 6, 4]", [](Given& g) { layer_norm(g.x, g.m, g.m); }},
    {"layer_norm", "[batch, len]", [](Given& g) { layer_norm(g.m, g.v, g.v); }},
    {"layer_norm", "[batch, 6, 4]", [](Given& g) { layer_norm(g.x, g.v, g.one); }},
    {"layer_norm", "[]", [](Given& g) { layer_norm(g.x, g.one, g.one); }},
    {"layer_norm", "i32", [](Given& g) { layer_norm(g.ids, g.m, g.m); }},
    {"layer_norm", "eps must be 0 or above", [](Given& g) { layer_norm(g.x, g.v, g.v, -1e-9); }},
    {"layer_norm", "eps must be 0 or above", [](Given& g) { layer_norm(g.x, g.v, g.v, NAN); }},
    {"batch_norm", "eps must be 0 or above", [](Given& g) { batch_norm(g.x, g.v, g.v, 2, -1.0); }},
    {"batch_norm", "axis 3", [](Given& g) { batch_norm(g.x, g.v, g.v, 3); }},
    {"batch_norm", "axis 1", [](Given& g) { batch_norm(g.x, g.v, g.v, 1); }},
    {"batch_norm", "i32", [](Given& g) { batch_norm(g.ids, g.v, g.v, 1); }},
};

const std::vector<WrongCall> kLookUps = {
    {"gather", "f32 [batch, len]", [](Given& g) { gather(g.v, g.m); }},
    {"gather", "[]", [](Given& g) { gather(g.one, g.ids); }},
    {"gather", "axes", [](Given& g) { gather(g.six, g.ids); }},
    {"gather", "id 4", [](Given& g) { gather(g.v, full(*g.s.graph, {3}, 4, i32)); }},
    {"gather", "id -1", [](Given& g) { gather(g.v, full(*g.s.graph, {3}, -1, i32)); }},
    {"scatter_add", "f32 [batch, len]", [](Given& g) { scatter_add(g.x, g.m, 5); }},
    {"scatter_add", "i32 [batch, len]", [](Given& g) { scatter_add(g.x, g.ids, 5); }},
    {"scatter_add", "i32 [batch, len]", [](Given& g) { scatter_add(g.v, g.ids, 5); }},
    {"scatter_add", "-5", [](Given& g) { scatter_add(g.m, g.ids, -5); }},
    {"sinusoids", "f32 [4]", [](Given& g) { sinusoids(g.v); }},
    {"sinusoids", "i32 [batch, len]", [](Given& g) { sinusoids(g.ids); }},
    {"sinusoids", "-8", [](Given& g) { sinusoids(*g.s.graph, "len", -8); }},
    {"sinusoids_at", "f32 [batch, len]", [](Given& g) { sinusoids_at(g.m, 8); }},
    {"dropout", "i32 [batch, len]", [](Given& g) { dropout(g.ids, 0.5); }},
    {"dropout", "[0, 1)", [](Given& g) { dropout(g.x, 1); }},
    {"dropout", "[0, 1)", [](Given& g) { dropout(g.x, -0.1); }},
    {"dropout", "[0, 1)", [](Given& g) { dropout(g.x, kNan); }},
    {"random", "[0, 1)", [](Given& g) { random(*g.s.graph, {3}, 1, 0); }},
    {"random", "site", [](Given& g) { random(*g.s.graph, {3}, 0.5, -1); }},
    {"cross_entropy", "[batch, len]", [](Given& g) { cross_entropy(g.m, g.ids, g.ids); }},
    {"cross_entropy", "[batch, 6, 4]", [](Given& g) { cross_entropy(g.x, g.ids, g.ids); }},
    {"smoothed_cross_entropy", "[batch, len]",
     [](Given& g) { smoothed_cross_entropy(g.m, g.ids, 0); }},
    {"smoothed_cross_entropy", "padding -100 is no label",
     [](Given& g) {
         smoothed_cross_entropy(g.x, slice(g.s.input("y", {"batch", 6}, i32), 1, 0, 6), -100);
     }},
    {"smoothed_cross_entropy", "[0, 1)",
     [](Given& g) {
         smoothed_cross_entropy(g.x, slice(g.s.input("y", {"batch", 6}, i32), 1, 0, 6), 0, kNan);
     }},
};

const std::vector<WrongCall> kSelections = {
    {"flatten", "from 2 to 1 in [batch, 6, 4]", [](Given& g) { flatten(g.x, 2, 1); }},
    {"flatten", "from 0 to 3", [](Given& g) { flatten(g.x, 0, 3); }},
    {"unflatten", "no axis 3", [](Given& g) { unflatten(g.x, 3, {1}); }},
    {"unflatten", "[2, 2]", [](Given& g) { unflatten(g.x, 1, {2, 2}); }},
    {"unflatten", "at most 6", [](Given& g) { unflatten(g.six, 5, {2, 3}); }},
    {"index_select", "no axis 3", [](Given& g) { index_select(g.x, 3, g.ids); }},
    {"index_select", "f32 [batch, len]", [](Given& g) { index_select(g.x, 1, g.m); }},
    {"index_select", "more than 6", [](Given& g) { index_select(g.six, 1, g.ids); }},
    {"take_along_dim", "no axis -4", [](Given& g) { take_along_dim(g.x, g.ids, -4); }},
    {"take_along_dim", "i32 [batch, len]", [](Given& g) { take_along_dim(g.x, g.ids, 1); }},
    {"take_along_dim", "f32 [batch, len]", [](Given& g) { take_along_dim(g.m, g.m, 1); }},
    {"scatter_add", "no axis 2", [](Given& g) { scatter_add(g.m, 2, g.ids, g.m); }},
    {"scatter_add", "i32 [batch, len]", [](Given& g) { scatter_add(g.x, 1, g.ids, g.m); }},
    {"scatter_add", "[batch, 6, 4]", [](Given& g) { scatter_add(g.m, 1, g.ids, g.x); }},
    {"topk", "i32", [](Given& g) { topk<2>(g.ids); }},
    {"topk", "axis 3", [](Given& g) { topk<2>(g.x, 3); }},
    {"topk", "fewer than 7", [](Given& g) { topk<7>(g.x, 1); }},
    {"topk", "0 values", [](Given& g) { topk(g.x, 0, 1); }},
    {"sort", "i32", [](Given& g) { sort(g.ids); }},
    {"sort", "axis -4", [](Given& g) { sort(g.x, -4); }},
    {"sort", "6 axes", [](Given& g) { sort(g.six, 1); }},
    {"cross_entropy", "i32 [batch, len]", [](Given& g) { cross_entropy(g.x, g.ids); }},
    {"cross_entropy", "f32 [batch, len]", [](Given& g) { cross_entropy(g.x, g.m); }},
    {"cross_entropy", "[0, 1]",
     [](Given& g) { cross_entropy(g.v, full(g.s, {}, 1, i32), {.label_smoothing = 2}); }},
    {"cross_entropy", "static number of classes",
     [](Given& g) { cross_entropy(g.m, sum_of(g.ids), {.label_smoothing = 0.1}); }},
    {"einsum", "at most 6",
     [](Given& g) {
         Tensor z = g.s.input("z", {2, 3, 4, 5, 6, 4});
         einsum("a b c d e f, g, b c d e f g -> a", g.six, g.v, z);
     }},
    {"einsum", "3 operands, and it is given 1", [](Given& g) { einsum("a, b, c -> a", g.v); }},
    {"linear", "[batch, len]", [](Given& g) { linear(g.x, g.m); }},
    {"linear", "bias f32 [4]", [](Given& g) { linear(g.x, g.s.parameter("w", {5, 4}), g.v); }},
};

const std::vector<WrongCall> kAttentions = {
    {"attention", "[batch, len]", [](Given& g) { attention(g.m, g.m, g.m, dot_product); }},
    {"attention", "[batch, len]", [](Given& g) { attention(g.x, g.x, g.m, dot_product); }},
    {"attention", "leading",
     [](Given& g) { attention(g.x, g.s.input("k", {"keys", 6, 4}), g.x, dot_product); }},
    {"attention", "3 heads of queries are not a multiple of 2 of keys",
     [](Given& g) {
         Tensor k = g.s.input("k", {"batch", 2, "keys", 4});
         attention(g.s.input("q", {"batch", 3, "len", 4}), k, k, dot_product);
     }},
    {"attention", "queries of 4 elements and keys of 5 have no dot product",
     [](Given& g) {
         Tensor k = g.s.input("k", {"batch", "keys", 5});
         attention(g.s.input("q", {"batch", "len", 4}), k, k, dot_product);
     }},
    {"attention", "keys and values differ in their leading",
     [](Given& g) {
         Tensor q = g.s.input("q", {"batch", 4, "len", 4});
         attention(q, g.s.input("k", {"batch", 2, "keys", 4}), q, dot_product);
     }},
    {"attention", "length",
     [](Given& g) { attention(g.x, g.x, g.s.input("k", {"batch", 7, 4}), dot_product); }},
    {"attention", "i32",
     [](Given& g) { attention(g.x, g.x, g.s.input("k", {"batch", 6, 4}, i32), dot_product); }},
    {"attention", "one number",
     [](Given& g) { attention(g.x, g.x, g.x, [](Pair p) { return p.q; }); }},
    {"attention", "i32", [](Given& g) { attention(g.x, g.x, g.x, [](Pair p) { return p.i; }); }},
    {"attention", "empty",
     [](Given& g) { attention(g.x, g.x, g.x, [](Pair) { return Tensor(); }); }},
    {"attention", "[0, 1)",
     [](Given& g) { attention(g.x, g.x, g.x, dot_product, no_mask, {.dropout = 1}); }},
    {"attention", "i32 [batch, len]",
     [](Given& g) { attention(g.x, g.x, g.x, dot_product, padding(g.ids)); }},
    {"attention", "bool [batch, len]",
     [](Given& g) { attention(g.x, g.x, g.x, dot_product, allowed(g.seen)); }},
    {"padding", "empty", [](Given& g) { padding(g.empty); }},
    {"allowed", "empty", [](Given& g) { allowed(g.empty); }},
    {"attention_weights", "[4]", [](Given& g) { attention_weights(g.v, g.v, dot_product); }},
    {"add", "outside its score",
     [](Given& g) {
         Tensor kept;
         attention(g.x, g.x, g.x, [&](Pair p) { return kept = dot_product(p); });
         g.x + kept;
     }},
    {"output", "outside its score",
     [](Given& g) {
         Tensor kept;
         attention(g.x, g.x, g.x, [&](Pair p) { return kept = dot_product(p); });
         g.s.output("y", kept);
     }},
    {"mul", "outside its score or loop",
     [](Given& g) {
         Tensor kept;
         scan(g.x, g.v, [&](Tensor x, Tensor v) { return Step{kept = x, v}; });
         kept * 2.0;
     }},
    {"scan", "[]",
     [](Given& g) { scan(g.one, g.v, [](Tensor x, Tensor v) { return Step{x, v}; }); }},
    {"scan", "states",
     [](Given& g) {
         scan(g.x, std::vector{g.v},
              [](Tensor x, std::vector<Tensor> v) { return Step{x, std::vector{v[0], v[0]}}; });
     }},
    {"scan", "sequence",
     [](Given& g) {
         scan(std::vector<Tensor>{}, g.v,
              [](const std::vector<Tensor>&, Tensor v) { return Step{v, v}; });
     }},
    {"scan", "f32 [4]",
     [](Given& g) { scan(g.x, g.v, [](Tensor x, Tensor) { return Step{x, x}; }); }},
    {"scan", "empty",
     [](Given& g) { scan(g.x, g.v, [](Tensor x, Tensor) { return Step{x, Tensor()}; }); }},
};

const std::vector<WrongCall> kModules = {
    {"linear", "f32 []", [](Given& g) { linear(g.s, g.one, 4); }},
    {"linear", "i32 [batch, len]", [](Given& g) { linear(g.s, g.ids, 4); }},
    {"linear", "[..., 5]", [](Given& g) { linear(g.s, g.x, 4, {.in = 5}); }},
    {"weight", "0", [](Given& g) { linear(g.s, g.x, 0); }},
    {"weight", "-1", [](Given& g) { linear(g.s, g.x, -1); }},
    {"linear", "[7, 5]", [](Given& g) { linear_product(g.x, g.s.parameter("w", {7, 5})); }},
    {"embedding", "f32 [batch, len]", [](Given& g) { embedding(g.s, g.m, 5, 4); }},
    {"embedding", "[5, 4]", [](Given& g) { embedding(g.s, g.ids, 5, 4, {.padding = 5}); }},
    {"embedding", "f32 []", [](Given& g) { embedding(g.s, g.one, 5, 4); }},
    {"embedding", "[4]", [](Given& g) { look_up(g.s, g.v, g.ids); }},
    {"weight", "0", [](Given& g) { embedding(g.s, g.ids, 0, 4); }},
    {"layer_norm", "last 4 axes", [](Given& g) { layer_norm(g.s, g.x, 4); }},
    {"layer_norm", "last 0 axes", [](Given& g) { layer_norm(g.s, g.x, 0); }},
    {"layer_norm", "i32", [](Given& g) { layer_norm(g.s, g.ids); }},
    {"batch_norm", "axis 3", [](Given& g) { batch_norm(g.s, g.x, 3); }},
    {"batch_norm", "bool", [](Given& g) { batch_norm(g.s, g.seen, 1); }},
    {"lstm", "4 wide",
     [](Given& g) {
         const LSTMLayer layer = lstm_layer(g.s, 5, 3);
         lstm(layer, g.x, lstm_start(*g.s.graph, 6, 3));
     }},
    {"input", "x", [](Given& g) { g.s.input("x", {3}); }},
    {"input", "''", [](Given& g) { g.s.input("", {3}); }},
    {"input", "quotes", [](Given& g) { g.s.input("a\"b", {3}); }},
    {"input", "'has blanks'", [](Given& g) { g.s.input("z", {"has blanks"}); }},
    {"input", "''", [](Given& g) { g.s.input("z", {""}); }},
    {"input", "0 in [batch, 0]", [](Given& g) { g.s.input("z", {"batch", 0}); }},
    {"input", "at most 6", [](Given& g) { g.s.input("z", {1, 1, 1, 1, 1, 1, 1}); }},
    {"input", "63 bits", [](Given& g) { g.s.input("z", {Dim(1LL << 40) * (1LL << 40)}); }},
    {"parameter", "-4", [](Given& g) { g.s.parameter("z", {-4}); }},
    {"parameter", "i32", [](Given& g) { g.s.parameter("z", {4}, Initial::zeros, i32); }},
    {"output", "empty", [](Given& g) { g.s.output("z", g.empty); }},
    {"tie", "empty", [](Given& g) { g.s.tie("z", g.empty); }},
    {"tie", "no parameter", [](Given& g) { g.s.tie("z", g.x); }},
};

/// Functions of two operands, and what takes one of each graph.
const std::vector<WrongCall> kTwoGraphs = {
    {"add", "", [](Given& g) { g.v + g.empty; }},
    {"where", "", [](Given& g) { where(g.seen, g.one, g.empty); }},
    {"concat", "", [](Given& g) { concat(g.v, g.empty, 0); }},
    {"einsum", "", [](Given& g) { einsum("a, a -> a", g.v, g.empty); }},
    {"gather", "", [](Given& g) { gather(g.empty, g.ids); }},
    {"layer_norm", "", [](Given& g) { layer_norm(g.x, g.v, g.empty); }},
    {"masked_softmax", "", [](Given& g) { masked_softmax(g.x, allowed(eq(g.empty, 0.0))); }},
    {"attention", "", [](Given& g) { attention(g.x, g.x, g.empty, dot_product); }},
    {"mul", "",
     [](Given& g) {
         attention(g.x, g.x, g.x, [&](Pair p) { return dot_product(p) * sum(g.empty, 0); });
     }},
    {"scan", "",
     [](Given& g) { scan(g.x, g.empty, [](Tensor x, Tensor v) { return Step{x, v}; }); }},
    {"linear", "", [](Given& g) { linear_product(g.x, g.empty); }},
    {"output", "", [](Given& g) { g.s.output("y", g.empty); }},
};

}  // namespace

TEST_CASE("movements refuse wrong arguments") { check_calls("wrong_calls_test.cpp", kMovements); }
TEST_CASE("elementwise functions refuse wrong arguments") {
    check_calls("wrong_calls_test.cpp", kFunctions);
}
TEST_CASE("selections and losses refuse wrong arguments") {
    check_calls("wrong_calls_test.cpp", kSelections);
}

TEST_CASE("reductions, products and norms refuse wrong arguments") {
    check_calls("wrong_calls_test.cpp", kReductions);
}
TEST_CASE("look-ups and losses refuse wrong arguments") {
    check_calls("wrong_calls_test.cpp", kLookUps);
}
TEST_CASE("attention and loops refuse wrong arguments") {
    check_calls("wrong_calls_test.cpp", kAttentions);
}
TEST_CASE("modules refuse wrong arguments") { check_calls("wrong_calls_test.cpp", kModules); }

TEST_CASE("tensors of two graphs are refused") {
    for (const WrongCall& call : kTwoGraphs) {
        CAPTURE(call.name);
        Graph graph, other;
        Given given{Scope{&graph}};
        given.empty = Scope{&other}.input("other", {4});
        std::string text = "nothing was thrown";
        try {
            call.call(given);
        } catch (const UserError& error) {
            text = error.what();
        }
        CAPTURE(text);
        CHECK(text.find(call.name) != text.npos);
        CHECK(text.find("graph") != text.npos);
    }
}
