// The printed forms of graphs.
#include "codegen/graph/print.h"

#include <fovea.h>

#include <cctype>
#include <nlohmann/json.hpp>

#include "codegen/graph/print_dot.h"
#include "codegen/graph/print_json.h"
#include "tests/golden.h"

using namespace fovea;

namespace {

/// A block with every kind of attribute that is printed.
Graph block() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", {"hidden", 8}});
    Tensor lens = s.input("lens", {"batch"}, i32);
    Tensor q = rearrange(linear(s / "W_q", x, 8), "b t (h d) -> b h t d", {"h", 2});
    Tensor seen = attention(q, q, q, dot_product, causal & padding(lens), {.dropout = 0.1});
    Tensor y = layer_norm(s / "ln", x + rearrange(seen, "b h t d -> b t (h d)"));
    Tensor total = sum(y, -1, true);
    y = relu(concat(slice(y, -1, 0, 4), total, 2)) * 0.5;
    s.output("y", masked_softmax(y, padding(lens).with(MaskedRows::zero)));
    return graph;
}

/// The text without line numbers of sources: `print_test.cpp:22` as `print_test.cpp`.
std::string without_lines(const std::string& text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool number = text[i] == ':' && i + 1 < text.size() && std::isdigit(text[i + 1]);
        if (!number) {
            result += text[i];
            continue;
        }
        while (i + 1 < text.size() && std::isdigit(text[i + 1])) ++i;
    }
    return result;
}

}  // namespace

TEST_CASE("a block, line by line") {
    std::string text = print(block());
    text = without_lines(text);
    test::check_golden("graph/block.txt", text);
}

TEST_CASE("axes as letters") {
    Graph graph;
    Tensor x = Scope{&graph}.input("x", {2, 12, 1});
    Tensor y = rearrange(x, "b (h d) 1 -> d (b h)", {"h", 4});
    CHECK(print_axes(graph.rearranges.back()) == "a (b c) 1 -> c (a b), b=4, c=3");
    einsum("t k, k b -> b t", y, rearrange(y, "t k -> k t"));
    CHECK(print_axes(graph.einsums.back()) == "a b, b c -> c a");
    CHECK(print_op(graph, int(graph.nodes.size()) - 1) == "einsum 'a b, b c -> c a'");
}

TEST_CASE("json names every node") {
    Graph graph = block();
    auto json = nlohmann::json::parse(print_json(graph));
    REQUIRE(json["nodes"].size() == graph.nodes.size() - 1);
    CHECK(json["nodes"][0]["op"] == "input");
    CHECK(json["nodes"][0]["shape"] == nlohmann::json::array({"batch", "len", 8}));
    bool found = false;
    for (const auto& node : json["nodes"])
        found = found || (node["op"] == "parameter" && node["name"] == "W_q.weight");
    CHECK(found);
}

TEST_CASE("dot text has a line for each node and each edge") {
    Graph graph = block();
    std::string text = print_dot(graph);
    CHECK(text.starts_with("digraph model {"));
    CHECK(text.ends_with("}\n"));
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        std::string number = std::to_string(id);
        CHECK(text.find("n" + number + " [") != text.npos);
        for (int input : graph[id].inputs)
            if (input > 0)
                CHECK(text.find("n" + std::to_string(input) + " -> n" + number + ";") != text.npos);
    }
}
