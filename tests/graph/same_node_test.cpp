// Nodes of one function, and each setting that makes them two.
#include "codegen/graph/same_node.h"

#include <doctest/doctest.h>

using namespace fovea;

namespace {

/// Another value of the same type.
template <class T>
void change(T& setting) {
    if constexpr (std::is_same_v<T, Port>) setting.number += 1;
    else setting = T(int(setting) + 1);
}

constexpr Node kNode{.op = Op::softmax};

bool is_told_apart(const Node& changed) {
    Graph graph;
    const int one = graph.add(kNode), other = graph.add(changed);
    return !same_function(graph, one, graph, other);
}

}  // namespace

TEST_CASE("every setting tells nodes apart") {
    CHECK(!is_told_apart(kNode));
    CHECK(is_told_apart({.op = Op::softmax, .shape = kNode.shape, .dim = Dim(3)}));
    CHECK(is_told_apart({.op = Op::softmax, .shape = Shape({Dim(3)})}));
    const auto change_one = [](auto number) {
        Node node = kNode;
        change(std::get<number()>(settings_of(node)));
        CHECK(is_told_apart(node));
    };
    constexpr std::size_t kSettings = std::tuple_size_v<decltype(settings_of(kNode))>;
    [&]<std::size_t... At>(std::index_sequence<At...>) {
        (change_one(std::integral_constant<std::size_t, At>()), ...);
    }(std::make_index_sequence<kSettings>());
}
