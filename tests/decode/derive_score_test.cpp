// The program that scores a text: cross entropy by the logits of the model, whatever its loss is.
#include "codegen/decode/derive_score.h"

#include <doctest/doctest.h>

#include <cmath>

#include <fovea.h>

#include "codegen/reference/interpreter.h"

using namespace fovea;

namespace {

constexpr int kWords = 7;
constexpr std::int64_t kTexts = 2, kLength = 5;

/// A model whose loss is none of its logits, which has no labels.
Graph with_own_loss(const char* input) {
    Graph graph;
    Scope s{&graph};
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor x = embedding(s / "words", ids, kWords, 4);
    if (*input) x = x + unsqueeze(s.input(input, {"batch", "len"}), 2);
    Tensor logits = linear(s / "head", x, kWords);
    s.output("logits", logits);
    s.output("loss", sum(logits * logits, -1));
    return graph;
}

double parameter_at(std::int64_t i) { return double(i * 37 % 19) / 8 - 1; }

void set_all(Interpreter& program, const Graph& graph) {
    for (const Node& node : graph.nodes) {
        if (node.op != Op::parameter) continue;
        Array array;
        for (const Dim& dim : node.shape) array.shape.push_back(dim.value());
        for (std::int64_t i = 0; i < array.size(); ++i) array.values.push_back(parameter_at(i));
        program.set(graph.path(node.scope), array);
    }
    Array ids{{kTexts, kLength}, {}};
    for (std::int64_t i = 0; i < ids.size(); ++i) ids.values.push_back(double(i * 5 % kWords));
    program.set("ids", ids);
}

}  // namespace

TEST_CASE("a score is the cross entropy of each label, by the logits alone") {
    const Graph model = with_own_loss("");
    const auto score = derive_score(model);
    REQUIRE(score);
    Interpreter whole(model), program(*score);
    set_all(whole, model);
    set_all(program, *score);
    Array labels{{kTexts, kLength}, {}};
    for (std::int64_t i = 0; i < labels.size(); ++i)
        labels.values.push_back(double(i * 3 % kWords));
    program.set("labels", labels);
    const Array logits = whole.output("logits"), nats = program.output("nats");
    REQUIRE(nats.shape == labels.shape);
    for (std::size_t i = 0; i < nats.values.size(); ++i) {
        const double* row = logits.values.data() + i * kWords;
        double total = 0;
        for (int w = 0; w < kWords; ++w) total += std::exp(row[w]);
        CHECK(nats.values[i] ==
              doctest::Approx(std::log(total) - row[int(labels.values[i])]).epsilon(1e-12));
    }
    CHECK_FALSE(program.has("loss"));
}

TEST_CASE("logits that read an input called labels have no score, those that read others have") {
    CHECK_FALSE(derive_score(with_own_loss("labels")));
    const auto score = derive_score(with_own_loss("bias"));
    REQUIRE(score);
    CHECK(Interpreter(*score).has("bias"));
}
