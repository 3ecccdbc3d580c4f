// The row-wise ops of `fovea bench --suite rowwise`.
#include <fovea.h>
using namespace fovea;

namespace {

constexpr std::int64_t kHidden = 512;

constexpr Tensor normed(Scope s, Tensor x) {
    return layer_norm(x, s.input("weight", {kHidden}), s.input("bias", {kHidden}));
}

}  // namespace

constexpr void softmax_rows(Scope s) {
    s.output("y", softmax(s.input("x", {"batch", "queries", "keys"})));
}
constexpr void masked_softmax_rows(Scope s) {
    Tensor x = s.input("x", {"batch", "queries", "keys"});
    s.output("y", masked_softmax(x, padding(s.input("lens", {"batch"}, i32))));
}
constexpr void layer_norm_rows(Scope s) {
    s.output("y", normed(s, s.input("x", {"batch", "len", kHidden})));
}
constexpr void add_norm_rows(Scope s) {
    Dim batch = "batch", len = "len";
    Tensor x = s.input("x", {batch, len, kHidden});
    s.output("y", normed(s, x + s.input("residual", {batch, len, kHidden})));
}
constexpr void cross_entropy_rows(Scope s) {
    Tensor x = s.input("x", {"batch", "len", "classes"});
    Tensor labels = s.input("labels", {"batch", "len"}, i32);
    s.output("loss", cross_entropy(x, labels, s.input("lens", {"batch"}, i32)));
}
