// Which graphs do the same for each sequence of their batch, and what the others are told.
#include "codegen/why_not_in_shards.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include "codegen/optimize/fold.h"
#include "codegen/pipeline.h"

using namespace fovea;

namespace {

/// Of a model with inputs x [batch, len, 4] and ids [batch, len], and a weight w [4, 4], after all
/// passes of a program that gives the gradients of `loss`; empty: it can be cut.
template <class F>
std::string reason(F&& model) {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", 4});
    Tensor w = s.parameter("w", {4, 4}, Initial::normal);
    model(s, x, w);
    ProgramRequest request{.name = "gradient", .graph = graph, .training = true};
    request.gradients = Gradients::of_parameters;
    const CompiledModel compiled = compile_model("m", "m.cpp", {}, {request});
    const Graph& optimized = compiled.programs[0].optimized;
    const Dim sequences = sequences_of(optimized);
    CHECK(sequences == Dim("batch"));
    const std::string text = why_not_in_shards(optimized, sequences.bare_symbol()).value_or("");
    // Without the place, which is a line of this file.
    const std::size_t from = text.find(" ("), to = text.find(") ");
    return from == text.npos ? text : text.substr(0, from) + text.substr(to + 1);
}

/// Of each sequence of y [batch, len, …].
Tensor total(Tensor y) { return sum(sum(y, -1), -1); }
Tensor product(Tensor x, Tensor w) { return einsum("b t i, o i -> b t o", x, w); }

}  // namespace

TEST_CASE("what each sequence does alone can be cut") {
    CHECK(reason([](Scope s, Tensor x, Tensor w) { s.output("loss", total(product(x, w))); }) ==
          "");
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              Tensor y = softmax(dropout(product(x, w), 0.5), -1);
              s.output("y", y);
              s.output("loss", total(y * y));
          }) == "");
    // Sums of the gradient are scaled, turned and put beside others.
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              Tensor scaled = concat({slice(w, 0, 0, 2) * 3.0, slice(w, 0, 2, 2)}, 0);
              s.output("loss", total(product(x, rearrange(scaled, "a b -> b a"))));
          }) == "");
    // A table that is looked up and multiplied: one sum of its gradient continues the other.
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              Tensor looked_up = gather(w, s.input("ids", {"batch", "len"}, i32));
              s.output("loss", total(product(x * looked_up, w)));
          }) == "");
}

TEST_CASE("what reads other sequences can not, and is named") {
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              Tensor y = product(x, w);
              s.output("loss", total(y - sum(y, 0, true)));
          }) == "sub reads a sum over all sequences beside single ones");
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              s.output("loss", sqrt(sum(total(product(x, w)), 0)));
          }) == "sqrt is made of a sum over all sequences");
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              s.output("loss", mean(total(product(x, w)), 0));
          }) == "extent depends on the number of sequences");
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              Tensor y = rearrange(product(x, w), "b t o -> t b o");
              s.output("y", y);
              s.output("loss", sum(total(y), 0));
          }) == "y has its sequences along another axis than the first");
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              s.output("loss", total(softmax(product(x, w), 0)));
          }) == "reduce reads several sequences at a time");
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              Tensor y = rearrange(product(x, w), "b t o -> (b t) o");
              s.output("loss", sum(y, 1));
          }) == "rearrange has a size that is made of the number of sequences");
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              s.output("squares", w * w);
              s.output("loss", total(product(x, w)));
          }) == "squares is no sum over sequences");
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              Tensor ids = s.input("ids", {"batch", "len"}, i32);
              s.output("rows", einsum("a b, c b -> a c", w, w) + scatter_add(x, ids, 4));
              s.output("loss", total(product(x, w)));
          }) == "scatter_add adds to a value that all sequences share");
    CHECK(reason([](Scope s, Tensor x, Tensor w) {
              Tensor number = cast(iota(s, {"batch", 1, 1}, 0), f32);
              s.output("loss", total(product(x, w) * number));
          }) == "iota tells sequences apart by their number");
}
